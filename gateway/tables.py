"""A table as the public sees it: the same members as a match's view wherever both have them."""

from typing import Literal

import msgspec
from msgspec import Raw, Struct
from waystation.lobby.v1 import lobby_pb2

from services.core.clock import Clock
from services.core.ids import PlayerId

Status = Literal["open", "starting", "closed"]

_STATUS: dict[int, Status] = {
    lobby_pb2.TABLE_STATUS_OPEN: "open",
    lobby_pb2.TABLE_STATUS_SEALED: "starting",
    lobby_pb2.TABLE_STATUS_CLOSED: "closed",
}


class TableSeat(Struct, frozen=True):
    """A seat; `player` is null while it is free."""

    player: str | None


class Table(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where players gather before a match of the same id.

    `status`: `open` waits for players, `starting` has its final seats and is a match now or in a
    moment, `closed` will never be one. `version` is the match's, 0 before it begins; `table_version`
    the table's own. `seat`: the caller's, null without one. `automatic`: starts by itself when the last
    seat is taken; otherwise the host starts it. `commitment`: SHA-256 of the seed, Base64. `invite`: the
    code that admits people to a private table, only in the answer that created it. Times are UTC ms.
    """

    match: str
    title: str
    status: Status
    version: Literal[0]
    table_version: int
    host: str
    seat: int | None
    seats: tuple[TableSeat, ...]
    seats_min: int
    options: Raw
    private: bool
    clock: Clock | None
    automatic: bool
    commitment: str
    created_at: int
    invite: str = ""


def shown(table: lobby_pb2.Table, player: PlayerId | None, invite: str = "") -> Table:
    """`table` as `player` may see it."""
    sitting = {taken.seat: taken.player for taken in table.taken}
    number = len(sitting) if table.status == lobby_pb2.TABLE_STATUS_SEALED else table.seats
    return Table(
        match=table.match,
        title=table.title,
        status=_STATUS[table.status],
        version=0,
        table_version=table.version,
        host=table.host,
        seat=next((seat for seat, who in sitting.items() if who == player), None),
        seats=tuple(TableSeat(sitting.get(seat)) for seat in range(number)),
        seats_min=table.seats_min,
        options=Raw(table.options or b"{}"),
        private=table.private,
        clock=msgspec.json.decode(table.clock, type=Clock) if table.clock else None,
        automatic=table.automatic,
        commitment=table.commitment,
        created_at=table.created_at.ToMilliseconds(),
        invite=invite,
    )
