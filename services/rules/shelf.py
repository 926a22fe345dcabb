"""The folded matches at hand: a bounded cache, which may forget anything at any time."""

from collections import OrderedDict

from services.core.ids import MatchId
from services.core.match import Match


class Shelf:
    """At most `room` matches; the one unused for longest goes first."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._matches: OrderedDict[MatchId, Match] = OrderedDict()

    def __len__(self) -> int:
        return len(self._matches)

    def find(self, match: MatchId) -> Match | None:
        """The match as it was last seen: other workers may have taken it further."""
        found = self._matches.get(match)
        if found is not None:
            self._matches.move_to_end(match)
        return found

    def keep(self, match: Match) -> None:
        """Keeps `match`, unless a later version of it is here: readers may be overtaken by commands."""
        there = self._matches.get(match.id)
        if there is None or there.version <= match.version:
            self._matches[match.id] = match
        self._matches.move_to_end(match.id)
        if len(self._matches) > self._room:
            self._matches.popitem(last=False)

    def drop(self, match: MatchId) -> None:
        self._matches.pop(match, None)
