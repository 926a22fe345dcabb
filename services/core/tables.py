"""A table: where players gather before a match. The same laws as for a match, in a stream of its own.

`table/<id>` and `match/<id>` share the id. A table is created, seats are taken and left, and at
last it is sealed (its match starts with exactly these seats) or closed. Storage format: see
`services.core.events`.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from services.core.clock import Clock
from services.core.errors import HistoryCorrupt
from services.core.events import Entry, Event, genesis, unseal
from services.core.ids import MatchId, PlayerId, table_stream
from services.core.match_events import Sitting
from services.core.upcast import current

Nonce = Annotated[str, Meta(max_length=64)]
Status = Literal["open", "sealed", "closed"]


class TableCreated(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Version 1: the player who did it is the host and sits at seat 0, with `nonce`.

    `invite`: SHA-256 of the invite code, Base64; the code itself is never stored. `automatic`: seal as
    soon as the last seat is taken; otherwise the host starts. `quick`: made by a quick match, so that
    another quick match may fill it.
    """

    title: str
    options: Raw
    seats: int
    seats_min: int
    private: bool = False
    clock: Clock | None = None
    automatic: bool = True
    quick: bool = False
    commitment: str
    invite: str = ""
    nonce: Nonce = ""


class SeatTaken(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The player who did it sits at `seat`."""

    seat: int
    nonce: Nonce = ""


class SeatLeft(Struct, frozen=True, omit_defaults=True, kw_only=True):
    seat: int


class TableSealed(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The match starts with these players, in seat order. Nothing at the table changes any more."""

    seats: tuple[Sitting, ...]


class TableClosed(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The host left, or nobody came."""

    note: str = ""


TableFact = TableCreated | SeatTaken | SeatLeft | TableSealed | TableClosed

# Storage format: the type names in the envelope.
TYPES: dict[str, type[TableFact]] = {
    "table_created": TableCreated,
    "seat_taken": SeatTaken,
    "seat_left": SeatLeft,
    "table_sealed": TableSealed,
    "table_closed": TableClosed,
}
NAMES: dict[type[TableFact], str] = {fact: name for name, fact in TYPES.items()}

# What a player asked for, by what came of it: a host who leaves closes the table.
Request = Literal["create", "take", "leave", "start"]
_REQUESTS: dict[str, Request] = {
    "table_created": "create",
    "seat_taken": "take",
    "seat_left": "leave",
    "table_closed": "leave",
    "table_sealed": "start",
}


class Answered(Struct, frozen=True):
    """A request that became the event at `version`. `seat`: the one that was taken or left, if any."""

    version: int
    fingerprint: str
    seat: int | None = None


class Table(Struct, frozen=True, kw_only=True):
    """A table at one version.

    `taken`: seat -> who sits there, while it is open. `sealed`: the final seats. `host`: who created it.
    """

    id: MatchId
    version: int
    head: bytes
    at: int
    created_at: int
    host: PlayerId
    created: TableCreated
    status: Status = "open"
    taken: dict[int, Sitting]
    sealed: tuple[Sitting, ...] = ()
    answered: dict[str, Answered]

    def seat_of(self, player: PlayerId) -> int | None:
        """Where `player` sits, by the final seats once the table is sealed."""
        sitting = enumerate(self.sealed) if self.status == "sealed" else self.taken.items()
        return next((seat for seat, who in sitting if who.player == player), None)

    @property
    def is_full(self) -> bool:
        return len(self.taken) == self.created.seats

    def answered_at(self, player: PlayerId, request: Request, request_id: str) -> Answered | None:
        """What came of this player's request, if it was answered before; ids are scoped to both."""
        return self.answered.get(f"{player}/{request}/{request_id}") if request_id else None


def fact_of(match: MatchId, event: Event) -> TableFact:
    """The typed `data` of a table's event. Raises HistoryCorrupt."""
    try:
        data = current(event.type, event.schema, event.data)
        return msgspec.json.decode(data, type=TYPES[event.type])
    except (KeyError, msgspec.MsgspecError) as error:
        stream = table_stream(match)
        raise HistoryCorrupt(stream, event.version, f"unreadable {event.type}: {error}") from error


def begun(match: MatchId, event: Event, head: bytes) -> Table:
    """The table after its first event. Raises HistoryCorrupt."""
    created = fact_of(match, event)
    if not isinstance(created, TableCreated):
        raise HistoryCorrupt(table_stream(match), event.version, f"begins with {event.type}")
    return Table(
        id=match,
        version=1,
        head=head,
        at=event.at,
        created_at=event.at,
        host=PlayerId(str(event.by)),
        created=created,
        taken={0: Sitting(str(event.by), created.nonce)},
        answered=_with_receipt({}, event, created),
    )


def evolve(table: Table, event: Event, head: bytes) -> Table:
    """The table after `event`. Raises HistoryCorrupt."""
    fact = fact_of(table.id, event)
    answered = _with_receipt(table.answered, event, fact)
    after = replace(table, version=event.version, at=event.at, head=head, answered=answered)
    match fact:
        case SeatTaken(seat=seat, nonce=nonce):
            return replace(after, taken={**table.taken, seat: Sitting(str(event.by), nonce)})
        case SeatLeft(seat=seat):
            return replace(after, taken={n: who for n, who in table.taken.items() if n != seat})
        case TableSealed(seats=seats):
            return replace(after, status="sealed", sealed=seats)
        case TableClosed():
            return replace(after, status="closed")
        case _:
            raise HistoryCorrupt(table_stream(table.id), event.version, "a table is created twice")


def extended(match: MatchId, table: Table | None, entry: Entry) -> Table:
    """`table` (None before version 1) after one more entry. Raises HistoryCorrupt."""
    stream = table_stream(match)
    if table is None:
        return begun(match, unseal(stream, entry, genesis(stream), 1), entry.hash)
    event = unseal(stream, entry, table.head, table.version + 1)
    return evolve(table, event, entry.hash)


def _with_receipt(answered: dict[str, Answered], event: Event, fact: TableFact) -> dict[str, Answered]:
    if not event.request_id:
        return answered
    seat = fact.seat if isinstance(fact, SeatTaken | SeatLeft) else None
    key = f"{event.by}/{_REQUESTS[event.type]}/{event.request_id}"
    return {**answered, key: Answered(event.version, event.fingerprint, seat)}
