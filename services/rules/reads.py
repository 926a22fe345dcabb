"""What can be asked about a match without changing it. All answers are JSON, for one reader."""

from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from services.core.errors import BadRequest, NotSeated, VersionConflict
from services.core.ids import MatchId, PlayerId
from services.core.match import Match
from services.core.record import record_of
from services.core.shown import ShownEvent, show_event
from services.rules.archive import Archive
from services.rules.news import view_of

MOVES_DEFAULT = 200
MOVES_MAX = 1_000
EVENTS_MAX = 500

_encode = msgspec.json.Encoder().encode


class Reader(NamedTuple):
    """Who asks. `admitted`: may watch a private match without a seat, as the caller has checked."""

    player: PlayerId | None
    admitted: bool


class Shown(NamedTuple):
    """A match's JSON, the version it shows, and the reader's seat."""

    view: bytes
    version: int
    seat: int | None


class Choice(Struct):
    """A legal move, as JSON and as its short text."""

    move: Any
    notation: str


class MovesPage(Struct):
    """`total`: of all pages. `next`: the token of the next page."""

    version: int
    seat: int | None
    choices: list[Choice]
    total: int
    next: str | None


class EventsPage(Struct):
    """`next`: the version to go on from; null when the end is reached."""

    match: str
    events: list[ShownEvent]
    next: int | None


class Reads:
    """Every method raises NotSeated for a private match and a reader who has neither seat nor invitation."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def view(self, id: MatchId, reader: Reader, version: int | None) -> Shown:
        """The match now, or as it stood at `version`. Raises NoSuchVersion."""
        match = await self._archive.now(id) if version is None else await self._archive.at(id, version)
        seat = _admitted(match, reader)
        return Shown(view_of(match, seat), match.version, seat)

    async def legal_moves(self, id: MatchId, reader: Reader, page_size: int, page_token: str) -> bytes:
        """A MovesPage. A token is good for its version only: then it raises VersionConflict."""
        match = await self._archive.now(id)
        seat = _admitted(match, reader)
        if page_size < 0:
            raise BadRequest("page_size", "is below 0")
        first = _offset(page_token, match.version)
        title = match.ruleset.title
        moves = list(title.legal_moves(match.state, seat)) if seat in match.to_act else []
        last = first + min(page_size or MOVES_DEFAULT, MOVES_MAX)
        return _encode(
            MovesPage(
                version=match.version,
                seat=seat,
                choices=[Choice(move, title.notation(move)) for move in moves[first:last]],
                total=len(moves),
                next=f"{match.version}-{last}" if last < len(moves) else None,
            )
        )

    async def events(self, id: MatchId, reader: Reader, first: int, last: int) -> bytes:
        """An EventsPage from version `first` to `last`, as far as there are any; 0 for the very ends."""
        if first < 0 or last < 0:
            raise BadRequest("from" if first < 0 else "to", "is below 0")
        match = await self._archive.now(id)
        seat = _admitted(match, reader)
        first = first or 1
        end = min(last or match.version, match.version)
        page_end = min(end, first + EVENTS_MAX - 1)
        chapters = await self._archive.chapters(match, first, page_end)
        over = match.outcome is not None
        return _encode(
            EventsPage(
                match=id,
                events=[show_event(match, chapter.event, seat, over) for chapter in chapters],
                next=page_end + 1 if first <= page_end < end else None,
            )
        )

    async def record(self, id: MatchId, reader: Reader) -> bytes:
        """The portable record. Raises NotOver before the end."""
        match = await self._archive.now(id)
        _admitted(match, reader)
        chapters = await self._archive.chapters(match, 1, match.version) if match.outcome else []
        return _encode(record_of(match, [chapter.entry for chapter in chapters]))


def _admitted(match: Match, reader: Reader) -> int | None:
    """The reader's seat, None for a spectator. Raises NotSeated."""
    seat = match.seat_of(reader.player)
    if seat is None and match.started.private and not reader.admitted:
        raise NotSeated
    return seat


def _offset(token: str, version: int) -> int:
    """Where the page of `token` begins. Raises VersionConflict when it belongs to another version."""
    if not token:
        return 0
    at, _, offset = token.partition("-")
    if not (_is_number(at) and _is_number(offset)):
        raise BadRequest("page_token", "is none that a page of moves gave")
    if int(at) != version:
        raise VersionConflict(int(at), version)
    return int(offset)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
