"""One audience of one match: what is pushed to it, shared by everybody who belongs to it."""

import asyncio
from typing import Protocol

import msgspec

from gateway.live.frames import Frame, pushed
from gateway.matches import Answered, Eyes, Matches
from services.core.ids import MatchId

_READS_MAX = 3


class Follower(Protocol):
    """Who listens to a feed."""

    def heed(self, frame: Frame) -> None:
        """Takes what was pushed; versions may be missing, doubled or out of order."""

    def told(self, head: int) -> None:
        """Hears that the match is at `head`."""

    def start_over(self) -> None:
        """Hears that the match is at an earlier version than it was: the store has lost its tail."""


class Feed:
    """`head`: the newest version known to exist; 0 before anything is known."""

    def __init__(self, match: MatchId, eyes: Eyes, matches: Matches) -> None:
        self.match = match
        self.eyes = eyes
        self.head = 0
        self.followers: set[Follower] = set()
        self._matches = matches
        self._reading: asyncio.Task[Answered] | None = None
        self._head_before = 0

    def push(self, version: int, happened: bytes) -> None:
        """Hands on what a worker pushed."""
        frame = pushed(version, happened)
        self.head = max(self.head, frame.version)
        for follower in tuple(self.followers):
            follower.heed(frame)

    def told(self, head: int) -> None:
        """Hears from the store where the match is; called every few seconds."""
        if head > self.head:
            self.head = head
        elif head < self.head == self._head_before:
            # Nothing came for a whole round and the stream is shorter than what we saw.
            self.head = head
            for follower in tuple(self.followers):
                follower.start_over()
        self._head_before = self.head
        for follower in tuple(self.followers):
            follower.told(self.head)

    async def view(self) -> Answered:
        """The match at `head` or later. Readers that come together share one read."""
        for _ in range(_READS_MAX):
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._matches.view(self.match, self.eyes))
                self._reading.add_done_callback(_heeded)
            found = await asyncio.shield(self._reading)
            if found.version >= self.head:
                break
        self.head = max(self.head, found.version)
        return found

    async def events(self, first: int, last: int) -> list[msgspec.Raw]:
        """The events of versions `first` to `last`; fewer when a page does not hold them all."""
        page = await self._matches.events(self.match, self.eyes, first, last)
        return msgspec.json.decode(page, type=_EventPage).events


def _heeded(reading: asyncio.Task[Answered]) -> None:
    """All who waited for it may have gone, and then nobody else looks at what it failed with."""
    if not reading.cancelled():
        reading.exception()


class _EventPage(msgspec.Struct):
    events: list[msgspec.Raw]
