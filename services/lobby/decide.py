"""`decide`: what a command makes of a table. One accepted command is one event; a refusal is an error.

Pure. Nothing is stored here: the caller appends `Decision.entry` and goes on with `Decision.table`.
"""

from typing import assert_never

import msgspec
from msgspec import Raw, Struct

from services.core import tables
from services.core.commands import Issued
from services.core.errors import (
    AlreadySeated,
    BadRequest,
    LimitReached,
    NotAllowed,
    NotSeated,
    RequestIdReused,
    SeatTaken,
    TableClosed,
    TableFull,
    TableNotReady,
)
from services.core.events import SYSTEM, Entry, Event, genesis, seal
from services.core.ids import MatchId, PlayerId, table_stream
from services.core.tables import NAMES, Answered, Request, Table, TableCreated, TableFact, begun, evolve
from services.core.upcast import schema_of
from services.lobby.commands import (
    AnyTableCommand,
    CloseTable,
    CreateTable,
    LeaveSeat,
    SealTable,
    StartTable,
    TableCommand,
    TakeSeat,
    fingerprint,
)

# Coming and going would make a table grow for ever. Those who sit there can still leave, and start.
CHANGES_MAX = 500


class Decision(Struct, frozen=True):
    """An event that may follow, as it would be stored, and the table after it."""

    event: Event
    entry: Entry
    table: Table


class Repeated(Struct, frozen=True):
    """The same request was accepted before. `seat`: the one it took, if any."""

    version: int
    seat: int | None


class Completed(Struct, frozen=True):
    """What the title makes of the wishes: all options (JSON), the seats, the fewest to start with."""

    options: Raw
    seats: int
    seats_min: int


_REQUESTS: dict[type[TableCommand], Request] = {
    CreateTable: "create",
    TakeSeat: "take",
    LeaveSeat: "leave",
    StartTable: "start",
}


def create(
    match: MatchId,
    command: CreateTable,
    completed: Completed,
    issued: Issued,
    *,
    commitment: str,
    invite: str,
) -> Decision:
    """Version 1 of a table, its host seated. `invite`: hash of the invite code; empty for a public table."""
    fact = TableCreated(
        title=command.title,
        options=completed.options,
        seats=completed.seats,
        seats_min=completed.seats_min,
        private=command.private,
        clock=command.clock,
        automatic=command.automatic,
        quick=command.quick,
        commitment=commitment,
        invite=invite,
        nonce=command.nonce,
    )
    event = _event(fact, 1, issued.at, command, issued)
    entry = seal(event, genesis(table_stream(match)))
    return Decision(event, entry, begun(match, event, entry.hash))


def decide(
    table: Table, command: AnyTableCommand, issued: Issued, *, invited: bool = False
) -> Decision | Repeated:
    """`invited`: whether the caller holds the table's invite code. Raises a DomainError to refuse."""
    earlier = repeated(table, command, issued)
    if earlier is not None:
        return Repeated(earlier.version, earlier.seat)
    fact = _fact(table, command, issued, invited)
    event = _event(fact, table.version + 1, max(issued.at, table.at), command, issued)
    entry = seal(event, table.head)
    return Decision(event, entry, evolve(table, event, entry.hash))


def repeated(table: Table, command: TableCommand, issued: Issued) -> Answered | None:
    """The answer this very request already got. Raises RequestIdReused if it asked for something else."""
    request = _REQUESTS.get(type(command))
    if request is None or issued.player is None:
        return None
    earlier = table.answered_at(issued.player, request, issued.request_id)
    if earlier is not None and earlier.fingerprint != fingerprint(command):
        raise RequestIdReused(earlier.version)
    return earlier


def _fact(table: Table, command: AnyTableCommand, issued: Issued, invited: bool) -> TableFact:
    if isinstance(command, SealTable):
        return _seal(table)
    if isinstance(command, CloseTable):
        _refuse_unless_open(table)
        return tables.TableClosed(note=command.note)
    player = issued.player
    assert player is not None, "every other command comes from a player"
    match command:
        case TakeSeat():
            return _take(table, command, player, invited)
        case LeaveSeat():
            return _leave(table, player)
        case StartTable():
            return _start(table, player)
        case _:
            assert_never(command)


def _take(table: Table, command: TakeSeat, player: PlayerId, invited: bool) -> tables.SeatTaken:
    mine = table.seat_of(player)
    if table.created.private and mine is None and not invited:
        raise NotSeated
    if mine is not None:
        raise AlreadySeated(mine)
    if len(table.sealed) == table.created.seats:
        raise TableFull(table.created.seats)
    _refuse_unless_open(table)
    seats = range(table.created.seats)
    if command.seat is not None and command.seat not in seats:
        raise BadRequest("seat", f"this table has seats 0 to {seats.stop - 1}")
    if table.is_full:
        raise TableFull(table.created.seats)
    if table.version >= CHANGES_MAX:
        raise LimitReached("changes of a table", CHANGES_MAX)
    if command.seat in table.taken:
        raise SeatTaken(command.seat)
    free = next(seat for seat in seats if seat not in table.taken)
    return tables.SeatTaken(seat=free if command.seat is None else command.seat, nonce=command.nonce)


def _leave(table: Table, player: PlayerId) -> tables.SeatLeft | tables.TableClosed:
    seat = table.seat_of(player)
    if seat is None:
        raise NotSeated
    _refuse_unless_open(table)
    if player == table.host:
        return tables.TableClosed(note="the host left")
    return tables.SeatLeft(seat=seat)


def _start(table: Table, player: PlayerId) -> tables.TableSealed:
    if player != table.host:
        raise NotAllowed("the host of the table")
    _refuse_unless_open(table)
    return _sealed(table)


def _seal(table: Table) -> tables.TableSealed:
    _refuse_unless_open(table)
    if not table.is_full:  # somebody has left since it was
        raise TableNotReady(len(table.taken), table.created.seats)
    return _sealed(table)


def _sealed(table: Table) -> tables.TableSealed:
    """The players in order of their seats; free seats go."""
    taken = len(table.taken)
    if taken < table.created.seats_min:
        raise TableNotReady(taken, table.created.seats_min)
    return tables.TableSealed(seats=tuple(table.taken[seat] for seat in sorted(table.taken)))


def _refuse_unless_open(table: Table) -> None:
    if table.status != "open":
        raise TableClosed("started" if table.status == "sealed" else table.status)


def _event(fact: TableFact, version: int, at: int, command: TableCommand, issued: Issued) -> Event:
    name = NAMES[type(fact)]
    return Event(
        type=name,
        version=version,
        schema=schema_of(name),
        at=at,
        by=SYSTEM if issued.player is None else issued.player,
        request_id=issued.request_id,
        fingerprint=fingerprint(command) if issued.request_id else "",
        data=Raw(msgspec.json.encode(fact)),
        traceparent=issued.traceparent,
    )
