"""All feeds of this gateway: one NATS subscription per audience that somebody follows, and their heads."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import structlog

from gateway.live.feed import Feed, Follower
from gateway.live.pushes import Pushes
from gateway.matches import Eyes, Matches
from services.core.errors import DomainError
from services.core.ids import MatchId, match_stream
from services.kit.store import EventStore

HEADS_S = 5.0
# Without NATS the heads alone tell that something has happened.
HEADS_S_WITHOUT_NATS = 1.0
HEADS_BATCH = 1_000
HEADS_S_MAX = 3.0
# What was stored a moment ago is still being pushed, and better heard of that way.
PUSH_S = 0.3

_log = structlog.get_logger()

F = TypeVar("F", bound=Follower)
Audience = tuple[MatchId, int | None]  # a seat's, or the spectators'


class Hub:
    """Feeds by audience; a feed lives as long as somebody follows it."""

    def __init__(self, store: EventStore, matches: Matches) -> None:
        self._store = store
        self._matches = matches
        self._feeds: dict[Audience, Feed] = {}
        self._listeners: set[Callable[[], None]] = set()
        self._look_now = asyncio.Event()
        self._pushes: Pushes

    @classmethod
    @asynccontextmanager
    async def opened(cls, nats_url: str, store: EventStore, matches: Matches) -> AsyncIterator["Hub"]:
        hub = cls(store, matches)
        async with Pushes.opened(nats_url, hub._look_now.set) as hub._pushes:
            watching = asyncio.create_task(hub._watch_heads())
            try:
                yield hub
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    @property
    def feeds(self) -> int:
        """How many audiences are followed."""
        return len(self._feeds)

    @property
    def is_pushed_to(self) -> bool:
        """Whether NATS is there; without it heads alone bring news."""
        return self._pushes.is_connected

    async def join(self, audience: Audience, eyes: Eyes, follower_of: Callable[[Feed], F]) -> F:
        """Adds a follower to the audience's feed; returns once pushes arrive there, if NATS is there."""
        feed = self._feeds.get(audience)
        if feed is None:
            feed = self._feeds[audience] = Feed(audience[0], eyes, self._matches)
            feed.subscribe(self._pushes, subject(audience))
        follower = follower_of(feed)
        feed.followers.add(follower)
        try:
            await feed.subscribed()
        except BaseException:
            await self.leave(audience, follower)
            raise
        return follower

    async def leave(self, audience: Audience, follower: Follower) -> None:
        """Takes a follower off; harmless when it is gone already."""
        feed = self._feeds.get(audience)
        if feed is None:
            return
        feed.followers.discard(follower)
        if not feed.followers:
            del self._feeds[audience]
            await feed.unsubscribe(self._pushes)

    def listen(self, listener: Callable[[], None]) -> None:
        """Calls `listener` after every look at the heads."""
        self._listeners.add(listener)

    def unlisten(self, listener: Callable[[], None]) -> None:
        self._listeners.discard(listener)

    async def _watch_heads(self) -> None:
        while True:
            pause_s = HEADS_S if self.is_pushed_to else HEADS_S_WITHOUT_NATS
            try:
                async with asyncio.timeout(pause_s):
                    await self._look_now.wait()
            except TimeoutError:
                pass
            self._look_now.clear()
            try:
                await self._look()
                for listener in tuple(self._listeners):
                    listener()
            except Exception:  # every follow depends on this loop
                _log.exception("heads_failed")

    async def _look(self) -> None:
        """Tells every feed where its match is."""
        followed = list({match for match, _ in self._feeds})
        heads: dict[MatchId, int] = {}
        for start in range(0, len(followed), HEADS_BATCH):
            some = followed[start : start + HEADS_BATCH]
            try:
                async with asyncio.timeout(HEADS_S_MAX):
                    found = await self._store.heads([match_stream(match) for match in some])
            except (DomainError, TimeoutError) as error:
                _log.warning("heads_unread", why=str(error))
                return
            heads.update(zip(some, found, strict=True))
        await asyncio.sleep(PUSH_S)
        for (match, _), feed in list(self._feeds.items()):
            if match in heads:
                feed.told(heads[match])


def subject(audience: Audience) -> str:
    """Where the workers push what this audience may see."""
    match, seat = audience
    return f"live.{match}.{'spectator' if seat is None else f'seat-{seat}'}"
