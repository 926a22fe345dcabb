"""How many open tables one player hosts: a list in Redis that may be stale; the tables' streams decide.

Nobody strikes a table off when it starts or closes. A full list is looked through, and what is no longer
open goes: that costs a host with few open tables one look at each table, most of them still folded.
"""

from redis.asyncio import Redis

from services.core.errors import HistoryCorrupt, LimitReached, NoSuchMatch
from services.core.ids import MatchId, PlayerId
from services.kit.plain_redis import answered
from services.lobby.deadlines import OPEN_MS_MAX
from services.lobby.desk import Desk

# A table that is being opened right now is in the list already, and not in its stream yet.
OPENING_MS_MAX = 30_000


class Hosts:
    """At most `limit` open tables each."""

    def __init__(self, redis: Redis, desk: Desk, limit: int) -> None:
        self._redis = redis
        self._desk = desk
        self._limit = limit

    async def admit(self, player: PlayerId, match: MatchId, at: int) -> None:
        """Counts the table `match`, which `player` opens at `at`. Raises LimitReached, StoreUnavailable."""
        key = f"lobby:hosts:{player}"
        trip = self._redis.pipeline(transaction=True)
        trip.zadd(key, {match: at})
        trip.zcard(key)
        trip.pexpire(key, OPEN_MS_MAX)
        _, hosted, _ = await answered(trip.execute())
        if hosted > self._limit and hosted - await self._strike_off(key, at) > self._limit:
            await answered(self._redis.zrem(key, match))
            raise LimitReached("open tables of one player", self._limit)

    async def _strike_off(self, key: str, now: int) -> int:
        """How many of the list were open no more, and have left it."""
        listed = await answered(self._redis.zrange(key, 0, -1, withscores=True))
        gone = [match for match, at in listed if not await self._is_open(MatchId(match.decode()), now - at)]
        if gone:
            await answered(self._redis.zrem(key, *gone))
        return len(gone)

    async def _is_open(self, match: MatchId, age_ms: float) -> bool:
        try:
            return (await self._desk.find(match)).status == "open"
        except NoSuchMatch:
            return age_ms < OPENING_MS_MAX
        except HistoryCorrupt:  # nobody can sit down there any more, nor can its host close it
            return False
