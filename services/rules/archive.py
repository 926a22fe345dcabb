"""Matches from their streams: folded once, kept at hand, and caught up with what other workers appended.

Every catching up reads the entry of the version at hand as well: if the store no longer holds it
as it was (a lost tail), the match is folded again from what there is.
"""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

import structlog
from prometheus_client import Counter

from services.core.errors import HistoryCorrupt, HistoryForked, NoSuchMatch, NoSuchTitle, NoSuchVersion
from services.core.events import Entry, Event, genesis, unseal
from services.core.ids import MatchId, StreamName, match_stream
from services.core.match import Match
from services.core.replay import Step, extended, replayed
from services.kit.store import EventStore
from services.rules.library import Library
from services.rules.locks import MatchLocks
from services.rules.shelf import Shelf

_STEPS_PER_TURN = 200  # of the event loop: a long history delays nobody else by more than these

TAILS_LOST = Counter("tails_lost", "Matches of which the store lost entries that were seen here", ["title"])

log = structlog.get_logger()


class Sight(NamedTuple):
    """A match as known here. `fresh`: read from the store just now, so nothing older explains a refusal."""

    match: Match
    fresh: bool


class Chapter(NamedTuple):
    """One event with its entry, and the hash before it."""

    event: Event
    entry: Entry
    previous: bytes


class Archive:
    """All matches of the worker's title. Any method may raise NoSuchMatch, HistoryCorrupt, TitleDown."""

    def __init__(self, library: Library, store: EventStore, shelf: Shelf) -> None:
        self.library = library
        self._store = store
        self._shelf = shelf
        self._opening = MatchLocks()
        # From the start, since an increase counts only from a value that was seen before.
        self._tails_lost = TAILS_LOST.labels(library.slug)

    async def find(self, id: MatchId) -> Sight:
        """The match at hand, or folded from its stream."""
        if at_hand := self._shelf.find(id):
            return Sight(at_hand, fresh=False)
        async with self._opening.hold(id):  # many readers of one match fold it once
            if at_hand := self._shelf.find(id):
                return Sight(at_hand, fresh=False)
            return Sight(await self.refold(id), fresh=True)

    async def now(self, id: MatchId) -> Match:
        """The match as it stands in the store."""
        sight = await self.find(id)
        return sight.match if sight.fresh else await self.catch_up(sight.match)

    async def catch_up(self, match: Match) -> Match:
        """`match` with all that was appended since. One trip."""
        entries = await self._store.read(match_stream(match.id), after=match.version - 1)
        if not entries or entries[0].hash != match.head:
            self._tails_lost.inc()
            log.error("tail_lost", match=match.id, version=match.version)
            self._shelf.drop(match.id)
            return await self.refold(match.id)
        caught_up = match
        for entry in entries[1:]:
            caught_up = extended(caught_up, entry).match
        self._shelf.keep(caught_up)
        return caught_up

    async def refold(self, id: MatchId) -> Match:
        """The match folded from the whole stream. One trip."""
        match = await self._folded(id, None)
        self._shelf.keep(match)
        return match

    async def at(self, id: MatchId, version: int) -> Match:
        """The match as it stood at `version`, which is not kept at hand. Raises NoSuchVersion."""
        match = await self.now(id)
        if version == match.version:
            return match
        if not 1 <= version < match.version:
            raise NoSuchVersion(version, match.version)
        return await self._folded(id, version)

    async def chapters(self, match: Match, first: int, last: int) -> list[Chapter]:
        """The events `first` to `last` of `match`, each proved to follow the one before; no fold needed.

        Raises HistoryForked when the store has lost the last of them since `match` was read.
        """
        if first > last:
            return []
        try:
            return await self._chapters(match_stream(match.id), first, last)
        except HistoryCorrupt:
            self._shelf.drop(match.id)  # so that nobody goes on with what cannot be read again
            raise

    async def _chapters(self, stream: StreamName, first: int, last: int) -> list[Chapter]:
        after = max(first - 2, 0)  # one entry more, for its hash
        entries = await self._store.read(stream, after, until=last)
        for version, entry in enumerate(entries, after + 1):
            if entry.version != version:
                raise HistoryCorrupt(stream, version, f"the stream goes on with version {entry.version}")
        found = after + len(entries)
        if found < last:
            if await self._store.read(stream, after=last, limit=1):
                raise HistoryCorrupt(stream, found + 1, "the entry is missing")
            raise HistoryForked(stream, last, found)
        previous = genesis(stream) if first == 1 else entries.pop(0).hash
        chapters = []
        for version, entry in enumerate(entries, first):
            chapters.append(Chapter(unseal(stream, entry, previous, version), entry, previous))
            previous = entry.hash
        return chapters

    async def _folded(self, id: MatchId, until: int | None) -> Match:
        entries, seed = await asyncio.gather(
            self._store.read(match_stream(id), until=until), self._store.seed(id)
        )
        if not entries:
            raise NoSuchMatch(id)
        if seed is None:
            raise HistoryCorrupt(match_stream(id), 1, "the seed is missing")
        try:
            return await _last(replayed(id, seed, entries, self.library.ruleset_for))
        except NoSuchTitle:
            raise NoSuchMatch(id) from None


async def _last(steps: Iterable[Step]) -> Match:
    """The match after the last of `steps`, folded in turns with everybody else's work."""
    match = None
    for number, step in enumerate(steps, 1):
        match = step.match
        if number % _STEPS_PER_TURN == 0:
            await asyncio.sleep(0)
    assert match is not None, "a stream has at least one entry"
    return match
