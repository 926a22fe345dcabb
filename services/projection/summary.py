"""A summary of one match, folded from published events. Pure: `folded(summary, event) -> summary`.

Table and match are two streams that may arrive in any order, so each is folded on its own; what a
list needs is derived from both.
"""

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.ids import MatchId, StreamName, stream_match
from services.core.title import Outcome

Status = Literal["open", "running", "over", "closed"]


class Cursor(Struct, frozen=True):
    """How far one stream has been folded. `hash`: the chain's, hexadecimal."""

    version: int = 0
    hash: str = ""


class TableHalf(Struct, frozen=True, kw_only=True):
    """What the table's stream has told. `players` by seat; empty text for a free one."""

    cursor: Cursor
    title: str
    options: Raw
    private: bool
    players: tuple[str, ...]
    created_at: int
    at: int
    closed: bool = False


class MatchHalf(Struct, frozen=True, kw_only=True):
    """What the match's stream has told. `outcome`: once the match is over."""

    cursor: Cursor
    title: str
    options: Raw
    private: bool
    players: tuple[str, ...]
    started_at: int
    at: int
    outcome: Outcome | None = None


class Summary(Struct, frozen=True, kw_only=True):
    """One match in the lists."""

    match: MatchId
    table: TableHalf | None = None
    play: MatchHalf | None = None

    @property
    def status(self) -> Status:
        if self.play:
            return "over" if self.play.outcome else "running"
        return "closed" if self.table and self.table.closed else "open"

    @property
    def known(self) -> TableHalf | MatchHalf:
        """The half that says who plays what; the match's once there is one."""
        half = self.play or self.table
        assert half is not None, "a summary begins with an event"
        return half

    @property
    def created_at(self) -> int:
        if self.table:
            return self.table.created_at
        return self.play.started_at if self.play else 0

    @property
    def updated_at(self) -> int:
        return max(self.table.at if self.table else 0, self.play.at if self.play else 0)

    def cursor(self, stream: StreamName) -> Cursor:
        """How far `stream`, the table's or the match's, has been folded."""
        half = self.table if stream.startswith("table/") else self.play
        return half.cursor if half else Cursor()


class _Event(Struct):
    """The published JSON, as far as lists care."""

    type: str
    version: int
    at: int
    by: int | str
    data: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Event).decode


def is_newer(summary: Summary, published: PublishedEvent) -> bool:
    """Whether an event happened after all that its stream has told. Within one history later versions do."""
    half = summary.table if published.stream.startswith("table/") else summary.play
    return half is not None and _decode(published.event).at > half.at


def forgotten(summary: Summary, stream: StreamName) -> Summary:
    """`summary` without what `stream` told: it will be folded from its beginning again."""
    return replace(summary, table=None) if stream.startswith("table/") else replace(summary, play=None)


def folded(summary: Summary | None, published: PublishedEvent) -> Summary:
    """The summary after the next event of one of its streams; the caller has checked that it is the next."""
    stream = StreamName(published.stream)
    summary = summary or Summary(match=stream_match(stream))
    event = _decode(published.event)
    cursor = Cursor(published.version, published.hash.hex())
    if stream.startswith("table/"):
        return replace(summary, table=_table(summary.table, published.title, event, cursor))
    return replace(summary, play=_play(summary.play, published.title, event, cursor))


def _table(table: TableHalf | None, title: str, event: _Event, cursor: Cursor) -> TableHalf:
    if table is None:
        return TableHalf(
            cursor=cursor,
            title=title,
            options=Raw(msgspec.json.encode(event.data["options"])),
            private=event.data.get("private", False),
            players=(str(event.by),) + ("",) * (event.data["seats"] - 1),
            created_at=event.at,
            at=event.at,
        )
    table = replace(table, cursor=cursor, at=event.at)
    match event.type:
        case "seat_taken":
            return replace(table, players=_seated(table.players, event.data["seat"], str(event.by)))
        case "seat_left":
            return replace(table, players=_seated(table.players, event.data["seat"], ""))
        case "table_sealed":
            return replace(table, players=_players(event))
        case "table_closed":
            return replace(table, closed=True)
        case _:
            return table


def _play(play: MatchHalf | None, title: str, event: _Event, cursor: Cursor) -> MatchHalf:
    if play is None:
        play = MatchHalf(
            cursor=cursor,
            title=title,
            options=Raw(msgspec.json.encode(event.data["options"])),
            private=event.data.get("private", False),
            players=_players(event),
            started_at=event.at,
            at=event.at,
        )
    outcome = event.data.get("outcome")
    return replace(
        play,
        cursor=cursor,
        at=event.at,
        outcome=msgspec.convert(outcome, Outcome) if outcome else None,
    )


def _players(event: _Event) -> tuple[str, ...]:
    return tuple(seat["player"] for seat in event.data["seats"])


def _seated(players: tuple[str, ...], seat: int, player: str) -> tuple[str, ...]:
    return (*players[:seat], player, *players[seat + 1 :])
