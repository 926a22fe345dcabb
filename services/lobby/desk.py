"""The walk of a command at a table: load, decide, append, tell. The store arbitrates between lobbies."""

from collections.abc import Awaitable, Callable, Iterable

import structlog
from msgspec import Struct

from services.core.commands import Issued
from services.core.errors import (
    HistoryCorrupt,
    HistoryForked,
    NoSuchMatch,
    Overloaded,
    StoreUnavailable,
    VersionConflict,
)
from services.core.events import Entry, Event, genesis
from services.core.ids import MatchId, table_stream
from services.core.tables import Table, extended
from services.kit.cache import Cache, Room
from services.kit.moment import now_ms
from services.kit.store import LOBBY, Append, EventStore
from services.kit.telemetry import APPEND_CONFLICTS
from services.lobby.commands import AnyTableCommand, TakeSeat
from services.lobby.deadlines import deadline_of
from services.lobby.decide import Decision, Repeated, decide
from services.lobby.ids import is_invited

TRIES_MAX = 40  # against others who append to the same table at the same time

# What a folded table takes in memory: by itself, for each seat taken, for each request answered. Measured.
TABLE_BYTES, SEAT_BYTES, ANSWERED_BYTES = 1_300, 300, 250

log = structlog.get_logger()


class Stored(Struct, frozen=True):
    """An event just appended, and the table after it. `previous`: the hash before `entry`."""

    table: Table
    event: Event
    entry: Entry
    previous: bytes


class Carried(Struct, frozen=True):
    """A command's answer: the table as it is now. `seat`: the one that was taken, if any."""

    table: Table
    seat: int | None = None


class Desk:
    """Tables of all titles. `room`: for those kept folded. `publish`: told of each event; must not wait."""

    def __init__(self, store: EventStore, publish: Callable[[Stored], None], room: Room) -> None:
        self._store = store
        self._publish = publish
        self._folded: Cache[MatchId, Table] = Cache(room)

    async def find(self, match: MatchId) -> Table:
        """The table as it is now. Raises NoSuchMatch, HistoryCorrupt."""
        known = self._folded.find(match)
        if known is not None and known.status != "open":
            return known  # nothing happens at it any more
        try:
            table = await self._read(match, known)
        except HistoryCorrupt:
            if known is None:
                raise
            # The store may have lost the tail that was folded here: it decides.
            table = await self._read(match, None)
        if table is None:
            self._folded.drop(match)
            raise NoSuchMatch(match)
        self._keep(table)
        return table

    async def begin(self, decision: Decision, seed: bytes) -> Table:
        """Stores a new table with its seed. Raises VersionConflict when there is one of this id."""
        await self._append(decision, genesis(table_stream(decision.table.id)), seed)
        return decision.table

    async def carry_out(
        self,
        match: MatchId,
        command: AnyTableCommand,
        issued: Issued,
        *,
        invite: str = "",
        confirm: Callable[[Table], Awaitable[None]] | None = None,
    ) -> Carried:
        """Decides until the event is stored.

        `confirm` is asked about the table as it would be, and may raise to refuse. Raises what `decide`
        refuses with, and what the store raises.
        """
        for _ in range(TRIES_MAX):
            table = await self.find(match)
            decided = decide(table, command, issued, invited=is_invited(invite, table.created.invite))
            if isinstance(decided, Repeated):
                return Carried(table, decided.seat)
            if confirm is not None:
                await confirm(decided.table)
            try:
                await self._append(decided, table.head)
            except (VersionConflict, HistoryForked):
                APPEND_CONFLICTS.labels(LOBBY).inc()
                continue
            seat = _seat_taken(table, decided.table) if isinstance(command, TakeSeat) else None
            return Carried(decided.table, seat)
        raise Overloaded("the table", TRIES_MAX, 1)

    async def _append(self, decision: Decision, previous: bytes, seed: bytes | None = None) -> None:
        table, event, entry = decision.table, decision.event, decision.entry
        now = now_ms()
        try:
            await self._store.append(
                Append(
                    stream=table_stream(table.id),
                    entry=entry,
                    expected_version=entry.version - 1,
                    expected_hash=previous,
                    owner=LOBBY,
                    at=now,
                    deadline=deadline_of(table, now),
                    seed=seed,
                )
            )
        except (StoreUnavailable, HistoryForked):
            self._folded.drop(table.id)  # what is stored now, only the stream knows
            raise
        self._keep(table)
        _tell(table, event)
        self._publish(Stored(table, event, entry, previous))

    async def _read(self, match: MatchId, known: Table | None) -> Table | None:
        entries = await self._store.read(table_stream(match), after=known.version if known else 0)
        return folded(match, entries, known)

    def _keep(self, table: Table) -> None:
        self._folded.keep(table.id, table, _weight(table))


def folded(match: MatchId, entries: Iterable[Entry], known: Table | None = None) -> Table | None:
    """`known` after the `entries` that follow it; None for no table at all. Raises HistoryCorrupt."""
    for entry in entries:
        known = extended(match, known, entry)
    return known


def _seat_taken(before: Table, after: Table) -> int:
    return next(seat for seat in after.taken if seat not in before.taken)


def _weight(table: Table) -> int:
    """About how many bytes of memory a folded table takes."""
    sitting = len(table.taken) + len(table.sealed)
    return (
        TABLE_BYTES
        + len(bytes(table.created.options))
        + SEAT_BYTES * sitting
        + ANSWERED_BYTES * len(table.answered)
    )


def _tell(table: Table, event: Event) -> None:
    """The canonical line of what was stored."""
    log.info(
        event.type,
        title=table.created.title,
        match=table.id,
        version=event.version,
        request_id=event.request_id,
        traceparent=event.traceparent,
    )
