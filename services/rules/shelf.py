"""The folded matches at hand: a bounded cache, which may forget anything at any time."""

import asyncio

import structlog

from services.core.ids import MatchId
from services.core.match import Match
from services.kit.cache import Cache, Room
from services.kit.tasks import ended
from services.rules.weight import Weighed, weighed

TIDY_S_MAX = 15.0

log = structlog.get_logger()


class Shelf:
    """Matches by id, within `room`. Once started, it also forgets those that nobody asks for any more."""

    def __init__(self, room: Room) -> None:
        self._tidy_s = min(TIDY_S_MAX, room.idle_s / 4)
        self._matches: Cache[MatchId, Weighed] = Cache(room)
        self._tidying: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._matches)

    @property
    def weight(self) -> int:
        """About how many bytes all matches take."""
        return self._matches.weight

    def start(self) -> None:
        self._tidying = asyncio.create_task(self._keep_tidying())

    async def stop(self) -> None:
        await ended(self._tidying)

    def find(self, match: MatchId) -> Match | None:
        """The match as it was last seen: other workers may have taken it further."""
        found = self._matches.find(match)
        return None if found is None else found.match

    def keep(self, match: Match) -> None:
        """Keeps `match`, unless a later version of it is here: readers may be overtaken by commands."""
        there = self._matches.find(match.id)
        if there is None or there.match.version <= match.version:
            kept = weighed(match, there)
            self._matches.keep(match.id, kept, kept.bytes)

    def drop(self, match: MatchId) -> None:
        self._matches.drop(match)

    async def _keep_tidying(self) -> None:
        while True:
            await asyncio.sleep(self._tidy_s)
            if forgotten := self._matches.forget_idle():
                log.debug("idle_matches_forgotten", matches=forgotten, left=len(self))
