"""Telling others who is there: a process announces its address by heartbeat until it leaves.

Redis holds one sorted set of live members (JSON, scored by when they expire on Redis' own clock) and
one hash of titles' descriptions, kept after the last worker has gone so that the title shows as
unavailable rather than unknown. `services.kit.directory` reads both.
"""

import asyncio
import secrets
from typing import Any

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace
from redis.asyncio import Redis

from services.core.errors import StoreUnavailable
from services.core.ids import Slug
from services.kit.plain_redis import answered
from services.kit.tasks import ended

log = structlog.get_logger()

LIVE = "directory:live"
TITLES = "directory:titles"

BEAT_S = 2.0
LIFE_MS = 6_000


class Worker(Struct, frozen=True):
    """A rules worker. `rules_versions`: those it can play. `description`: the title's, JSON."""

    slug: Slug
    address: str
    rules_versions: tuple[int, ...]
    description: bytes


class Service(Struct, frozen=True):
    """One process of a service that serves all titles: "lobby", "projection"."""

    name: str
    address: str


class Member(Struct, frozen=True, omit_defaults=True):
    """Someone live, as it stands in Redis. `kind`: "title" or "service"; `name`: slug or service name.

    `instance` is another for every start, so that a process is never taken for the one before it, even
    if both started on one address within a millisecond.
    """

    kind: str
    name: str
    address: str
    rules_versions: tuple[int, ...] = ()
    draining: bool = False
    started_ms: int = 0
    instance: str = ""


class Announcer:
    """Keeps one process announced from `start` until `stop`; survives outages of Redis."""

    def __init__(self, redis: Redis, who: Worker | Service) -> None:
        self._redis = redis
        self._worker = who if isinstance(who, Worker) else None
        self._member = _member(who)
        self._beating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Announces once and then by heartbeat. Raises StoreUnavailable if the first one fails."""
        now = await _now_ms(self._redis)
        self._member = replace(self._member, started_ms=now, instance=secrets.token_hex(8))
        if self._worker is not None:
            await answered(self._redis.hset(TITLES, self._worker.slug, self._worker.description))
        await self._beat()
        self._beating = asyncio.create_task(self._keep_beating())

    async def drain(self) -> None:
        """Tells others to send new calls elsewhere; open ones are still answered."""
        before, self._member = self._member, replace(self._member, draining=True)
        try:
            await self._beat(instead_of=before)
        except StoreUnavailable as error:
            log.warning("announcement_failed", detail=str(error))

    async def stop(self) -> None:
        """Withdraws the announcement; without Redis it expires by itself."""
        await ended(self._beating)
        try:
            await answered(self._redis.zrem(LIVE, msgspec.json.encode(self._member)))
        except StoreUnavailable as error:
            log.warning("announcement_failed", detail=str(error))

    async def _beat(self, instead_of: Member | None = None) -> None:
        now = await _now_ms(self._redis)
        trip = self._redis.pipeline(transaction=True)
        if instead_of is not None:
            trip.zrem(LIVE, msgspec.json.encode(instead_of))
        trip.zadd(LIVE, {msgspec.json.encode(self._member): now + LIFE_MS})
        trip.zremrangebyscore(LIVE, "-inf", now - LIFE_MS)
        if self._worker is not None:  # heals a Redis that came back empty
            trip.hsetnx(TITLES, self._worker.slug, self._worker.description)
        await answered(trip.execute())

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await self._beat()
            except StoreUnavailable as error:
                log.warning("announcement_failed", detail=str(error))


def announce_service(redis: Redis, name: str, address: str) -> Announcer:
    """An announcer for one process of the service `name`."""
    return Announcer(redis, Service(name, address))


def _member(who: Worker | Service) -> Member:
    if isinstance(who, Worker):
        return Member("title", who.slug, who.address, who.rules_versions)
    return Member("service", who.name, who.address)


def clock_ms(redis_time: Any) -> int:
    seconds, micros = redis_time
    return int(seconds) * 1000 + int(micros) // 1000


async def _now_ms(redis: Redis) -> int:
    """Redis' own clock, UTC ms: the only one that announcements are judged by."""
    return clock_ms(await answered(redis.time()))
