"""All feeds of this gateway, one per audience that is followed: workers push, heads show what was lost."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import structlog

from gateway.live.feed import Feed, Follower
from gateway.matches import Eyes, Matches
from gateway.pushes import Audience, Pushes
from services.core.errors import DomainError
from services.core.ids import MatchId, match_stream
from services.kit.store import EventStore
from services.kit.tasks import ended

HEADS_S = 5.0
HEADS_BATCH = 1_000
HEADS_S_MAX = 3.0
# What was stored a moment ago is still being pushed, and better heard of that way.
PUSH_S = 0.3

_log = structlog.get_logger()

F = TypeVar("F", bound=Follower)


class Hub:
    """Feeds by audience; a feed lives as long as somebody follows it."""

    def __init__(self, store: EventStore, matches: Matches, pushes: Pushes) -> None:
        self._store = store
        self._matches = matches
        self._pushes = pushes
        self._feeds: dict[Audience, Feed] = {}
        self._listeners: set[Callable[[], None]] = set()
        self._look_now = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def opened(cls, store: EventStore, matches: Matches, pushes: Pushes) -> AsyncIterator["Hub"]:
        hub = cls(store, matches, pushes)
        pushes.on_worker = hub._look_now.set  # for what was stored before the worker knew of us
        watching = asyncio.create_task(hub._watch_heads())
        try:
            yield hub
        finally:
            await ended(watching)

    @property
    def feeds(self) -> int:
        """How many audiences are followed."""
        return len(self._feeds)

    def join(self, audience: Audience, eyes: Eyes, follower_of: Callable[[Feed], F]) -> F:
        """Adds a follower to the audience's feed.

        Whatever is read from a worker afterwards, it pushes what comes after that.
        """
        feed = self._feeds.get(audience)
        if feed is None:
            feed = self._feeds[audience] = Feed(audience.match, eyes, self._matches)
            self._pushes.follow(audience, feed.push)
        follower = follower_of(feed)
        feed.followers.add(follower)
        return follower

    def leave(self, audience: Audience, follower: Follower) -> None:
        """Takes a follower off; harmless when it is gone already."""
        feed = self._feeds.get(audience)
        if feed is None:
            return
        feed.followers.discard(follower)
        if not feed.followers:
            del self._feeds[audience]
            self._pushes.unfollow(audience)

    def listen(self, listener: Callable[[], None]) -> None:
        """Calls `listener` after every look at the heads."""
        self._listeners.add(listener)

    def unlisten(self, listener: Callable[[], None]) -> None:
        self._listeners.discard(listener)

    async def _watch_heads(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEADS_S):
                    await self._look_now.wait()
            self._look_now.clear()
            try:
                await self._look()
                for listener in tuple(self._listeners):
                    listener()
            except Exception:  # every follow depends on this loop
                _log.exception("heads_failed")

    async def _look(self) -> None:
        """Tells every feed where its match is."""
        followed = list({audience.match for audience in self._feeds})
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
        for audience, feed in list(self._feeds.items()):
            if audience.match in heads:
                feed.told(heads[audience.match])
