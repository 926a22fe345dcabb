"""What an audience gets to see of an event and of the match after it, encoded once for all who ask."""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from services.core.events import Entry, Event
from services.core.match import Match
from services.core.shown import MatchView, Telling, receipt, show_match

_encode = msgspec.json.Encoder().encode


def view_of(match: Match, seat: int | None) -> bytes:
    """`match` as JSON for `seat`; None is a spectator."""
    return _encode(show_match(match, seat))


def receipt_of(match: Match, view: bytes) -> bytes:
    """The receipt for the command that brought `match` to its version, as JSON."""
    return _encode(receipt(match, view))


class News:
    """A stored event and the match after it. `previous`: the hash before `entry`."""

    def __init__(self, match: Match, event: Event, entry: Entry, previous: bytes) -> None:
        self.match = match
        self.event = event
        self.entry = entry
        self.previous = previous
        self._views: dict[int | None, bytes] = {}
        self._events: dict[int | None, bytes] = {}
        self._telling: Telling | None = None
        self._plain = b""  # the event, written for those from whom nothing is hidden
        self._shown: MatchView | None = None  # what was shown last
        self._position = Raw(b"")  # its position, written, once two audiences had the same

    def view_for(self, seat: int | None) -> bytes:
        """JSON of the match after the event."""
        if seat not in self._views:
            before, self._shown = self._shown, show_match(self.match, seat, self._shown)
            self._views[seat] = _encode(self._brief(self._shown, before))
        return self._views[seat]

    def event_for(self, seat: int | None) -> bytes:
        """JSON of the event."""
        if seat not in self._events:
            self._events[seat] = self._told(seat)
        return self._events[seat]

    def _told(self, seat: int | None) -> bytes:
        if self._telling is None:
            self._telling = Telling(self.match, self.event, over=self.match.outcome is not None)
        told = self._telling.to(seat)
        if told is not self._telling.plain:
            return _encode(told)
        self._plain = self._plain or _encode(told)
        return self._plain

    def _brief(self, shown: MatchView, before: MatchView | None) -> MatchView:
        """`shown` with its position written already, where a title without secrets shows all the same."""
        if before is None or shown.view is not before.view:
            self._position = Raw(b"")
            return shown
        self._position = self._position or Raw(_encode(shown.view))
        return replace(shown, view=self._position)
