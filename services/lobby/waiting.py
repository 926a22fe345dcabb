"""Which quick tables wait for players, oldest first. A hint only: the table's stream decides.

A hint may be missing (the sweeper writes it again) or stale (who finds it so removes it).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from hashlib import blake2b
from weakref import WeakValueDictionary

import msgspec
from msgspec import Raw
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import RedisError

from services.core.clock import Clock
from services.core.ids import MatchId
from services.core.tables import Table
from services.kit.plain_redis import answered
from services.lobby.deadlines import QUICK_MS_MAX

LOOK_AT_MAX = 16
TURN_S_MAX = 2.0

Kind = str  # of a table: equal for tables that a quick match takes for equal


def kind_of(title: str, options: Raw, seats: int, clock: Clock | None) -> Kind:
    """`options`: complete, as the title wrote them."""
    described = msgspec.json.encode((title, options, seats, clock))
    return blake2b(described, digest_size=12).hexdigest()


def _kind(table: Table) -> Kind:
    created = table.created
    return kind_of(created.title, created.options, created.seats, created.clock)


class Waiting:
    """The lists in Redis, one for each kind. Methods raise StoreUnavailable."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._turns: WeakValueDictionary[Kind, asyncio.Lock] = WeakValueDictionary()

    async def add(self, table: Table) -> None:
        key = _key(_kind(table))
        trip = self._redis.pipeline(transaction=True)
        trip.zadd(key, {table.id: table.created_at})
        trip.pexpire(key, QUICK_MS_MAX)
        await answered(trip.execute())

    async def remove(self, table: Table) -> None:
        await answered(self._redis.zrem(_key(_kind(table)), table.id))

    async def forget(self, kind: Kind, match: MatchId) -> None:
        """Removes a hint that led nowhere."""
        await answered(self._redis.zrem(_key(kind), match))

    async def oldest(self, kind: Kind) -> list[MatchId]:
        """At most LOOK_AT_MAX tables that may have a free seat."""
        found = await answered(self._redis.zrange(_key(kind), 0, LOOK_AT_MAX - 1))
        return [MatchId(match.decode()) for match in found]

    @contextlib.asynccontextmanager
    async def turn(self, kind: Kind) -> AsyncIterator[None]:
        """One opener at a time for each kind, in all lobbies: else many who come at once each wait alone.

        After TURN_S_MAX it goes on all the same; at worst one table too many is opened.
        """
        own = self._turns.setdefault(kind, asyncio.Lock())
        async with own:
            lock = self._redis.lock(
                f"{_key(kind)}:turn", timeout=TURN_S_MAX, sleep=0.02, blocking_timeout=TURN_S_MAX
            )
            held = await answered(lock.acquire())
            try:
                yield
            finally:
                if held:
                    await _release(lock)


async def _release(lock: Lock) -> None:
    # A turn that took too long has ended by itself, and one that cannot be given back will.
    with contextlib.suppress(RedisError, OSError):
        await lock.release()


def _key(kind: Kind) -> str:
    return f"waiting:{kind}"
