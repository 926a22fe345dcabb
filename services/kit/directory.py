"""Looking up who is there: the workers of a title, the processes of a service, and what each can play."""

import asyncio
import contextlib
import time
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis

from services.core.errors import NoSuchTitle, ServiceDown, StoreUnavailable, TitleDown
from services.core.ids import MatchId, Slug
from services.kit.announce import LIVE, TITLES, Member, clock_ms
from services.kit.plain_redis import answered
from services.kit.tasks import ended

log = structlog.get_logger()

REFRESH_S = 1.0
LOOK_AGAIN_S = 0.1
AWAY_S = 5.0  # more than a look that hangs and one that fails


class TitleInfo(Struct, frozen=True):
    """A title that has been announced. `rules_versions`: those that every live worker can play."""

    description: bytes
    available: bool
    rules_versions: tuple[int, ...]


class _Picture(NamedTuple):
    """What one look at Redis showed. `live`: one member per address, by kind and name."""

    members: tuple[Member, ...]
    titles: Mapping[str, bytes]
    live: Mapping[tuple[str, str], Sequence[Member]]


class Directory:
    """The last picture of who is live, looked up without I/O and renewed every second.

    `fixed`: addresses of services that need no announcement. While Redis is away the last picture stands.
    """

    def __init__(self, redis: Redis, fixed: Mapping[str, str] | None = None) -> None:
        self._redis = redis
        self._fixed = {name: address for name, address in (fixed or {}).items() if address}
        self._picture = _Picture((), {}, {})
        self._looked_at = float("-inf")
        self._seen_at = float("-inf")
        self._looking: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Looks once and then every second. Raises StoreUnavailable if the first look fails."""
        await self.refresh()
        self._refreshing = asyncio.create_task(self._keep_refreshing())

    async def stop(self) -> None:
        await ended(self._refreshing)

    async def refresh(self) -> None:
        """Looks now. Raises StoreUnavailable."""
        trip = self._redis.pipeline(transaction=False)
        trip.time()
        trip.zrange(LIVE, 0, -1, withscores=True)
        now, scored = await answered(trip.execute())
        now_ms = clock_ms(now)
        members = tuple(
            msgspec.json.decode(raw, type=Member) for raw, expires_ms in scored if expires_ms > now_ms
        )
        titles = self._picture.titles
        if members != self._picture.members or not titles:
            # A new description always comes with a new worker, so most looks need not read them.
            found = await answered(self._redis.hgetall(TITLES))
            titles = {slug.decode(): description for slug, description in found.items()}
        self._picture = _Picture(members, titles, _by_name(members))
        self._seen_at = time.monotonic()

    @property
    def is_current(self) -> bool:
        """Whether Redis has answered lately; it is looked at every second."""
        return time.monotonic() - self._seen_at < AWAY_S

    async def look_for(self, slug: str) -> None:
        """Looks again if no worker of the title is known to be live: one may have come this moment.

        At most every LOOK_AGAIN_S, whatever is asked for; who comes during a look waits for what it shows.
        While Redis is away the last picture stands.
        """
        if self.workers(slug):
            return
        now = time.monotonic()
        if now - self._looked_at >= LOOK_AGAIN_S and (self._looking is None or self._looking.done()):
            self._looked_at = now
            self._looking = asyncio.create_task(self.refresh())
        if self._looking is not None:
            with contextlib.suppress(StoreUnavailable):
                await asyncio.shield(self._looking)

    def titles(self) -> dict[Slug, TitleInfo]:
        """Every title that was ever announced, by slug."""
        return {Slug(slug): self._info(slug, text) for slug, text in sorted(self._picture.titles.items())}

    def title(self, slug: str) -> TitleInfo:
        """Raises NoSuchTitle."""
        if slug not in self._picture.titles:
            raise NoSuchTitle(slug)
        return self._info(slug, self._picture.titles[slug])

    def workers(self, slug: str) -> Sequence[Member]:
        """The live workers of a title, draining ones included, one per address."""
        return self._picture.live.get(("title", slug), ())

    def newest_common_version(self, slug: str) -> int:
        """The newest rules version that all live workers can play. Raises NoSuchTitle, TitleDown."""
        versions = self.title(slug).rules_versions
        if not versions:
            raise TitleDown(
                slug, "its live workers share no rules version" if self.workers(slug) else "no worker"
            )
        return max(versions)

    def pick(
        self,
        slug: str,
        match: MatchId | str,
        rules_version: int | None = None,
        avoid: Collection[str] = (),
    ) -> str:
        """The address of the worker that serves `match` while the live ones stay the same.

        Rendezvous hashing: only the matches of a worker that comes or goes move. A draining worker is
        picked when there is no other. Raises NoSuchTitle, TitleDown.
        """
        if slug not in self._picture.titles:
            raise NoSuchTitle(slug)
        able = [
            worker
            for worker in self.workers(slug)
            if worker.address not in avoid
            and (rules_version is None or rules_version in worker.rules_versions)
        ]
        staying = [worker.address for worker in able if not worker.draining]
        addresses = staying or [worker.address for worker in able]
        if not addresses:
            wanted = "" if rules_version is None else f" of rules version {rules_version}"
            raise TitleDown(slug, f"no live worker{wanted}")
        return _rendezvous(addresses, match)

    def service(self, name: str, key: str = "", avoid: Collection[str] = ()) -> str:
        """The address of a live process of `name`; the same one for the same `key`. Raises ServiceDown."""
        if name in self._fixed:
            return self._fixed[name]
        there = self._picture.live.get(("service", name), ())
        live = [member for member in there if member.address not in avoid]
        staying = [member.address for member in live if not member.draining]
        addresses = staying or [member.address for member in live]
        if not addresses:
            raise ServiceDown(name, "no live process")
        return _rendezvous(addresses, key)

    def _info(self, slug: str, description: bytes) -> TitleInfo:
        workers = self.workers(slug)
        shared = set.intersection(*(set(worker.rules_versions) for worker in workers)) if workers else set()
        return TitleInfo(description, bool(shared), tuple(sorted(shared)))

    async def _keep_refreshing(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_S)
            try:
                await self.refresh()
            except StoreUnavailable as error:
                log.warning("directory_refresh_failed", detail=str(error))


def _by_name(members: Sequence[Member]) -> dict[tuple[str, str], list[Member]]:
    by_address: dict[tuple[str, str], dict[str, Member]] = {}
    for member in members:
        live = by_address.setdefault((member.kind, member.name), {})
        earlier = live.get(member.address)
        # A process that was killed and came back on its port is listed twice for some seconds.
        if earlier is None or earlier.started_ms <= member.started_ms:
            live[member.address] = member
    return {named: list(live.values()) for named, live in by_address.items()}


def _rendezvous(addresses: Sequence[str], key: str) -> str:
    if len(addresses) == 1:
        return addresses[0]
    return max(addresses, key=lambda address: blake2b(f"{address} {key}".encode(), digest_size=8).digest())
