"""given a table / when a command / then an event or a refusal. Pure: no store, no clock."""

from collections.abc import Sequence

import msgspec
import pytest
from msgspec import Raw

from services.core import errors
from services.core.commands import Issued
from services.core.errors import DomainError
from services.core.ids import MatchId, PlayerId
from services.core.match_events import Sitting
from services.core.tables import Table, extended
from services.lobby.commands import (
    AnyTableCommand,
    CloseTable,
    CreateTable,
    LeaveSeat,
    SealTable,
    StartTable,
    TakeSeat,
)
from services.lobby.decide import CHANGES_MAX, Completed, Decision, Repeated, create, decide

MATCH = MatchId("t1")
T0 = 1_800_000_000_000
Step = tuple[str | None, AnyTableCommand]


def issued(player: str | None, request_id: str = "", at: int = T0) -> Issued:
    return Issued(player=PlayerId(player) if player else None, request_id=request_id, at=at)


def created(seats: int = 3, seats_min: int = 2, *, private: bool = False, automatic: bool = True) -> Decision:
    """Ann's table."""
    command = CreateTable(
        title="high_card", options=Raw(b"{}"), private=private, automatic=automatic, nonce="salt"
    )
    completed = Completed(Raw(b'{"rounds":3}'), seats, seats_min)
    return create(MATCH, command, completed, issued("ann", "c1"), commitment="c", invite="h")


def given(first: Decision, *steps: Step) -> Table:
    table = first.table
    for player, command in steps:
        decided = decide(table, command, issued(player), invited=True)
        assert isinstance(decided, Decision)
        table = decided.table
    return table


def when(table: Table, player: str | None, command: AnyTableCommand, **facts: bool) -> Decision:
    decided = decide(table, command, issued(player), **facts)
    assert isinstance(decided, Decision)
    return decided


def data(decision: Decision) -> object:
    return msgspec.json.decode(decision.event.data)


BOB_SITS: Step = ("bob", TakeSeat())
CARA_SITS: Step = ("cara", TakeSeat())


def test_creating_seats_the_host_in_the_same_event() -> None:
    decision = created()
    assert decision.table.taken == {0: Sitting("ann", "salt")}
    assert decision.table.host == "ann"
    assert (decision.event.type, decision.event.by, decision.event.version) == ("table_created", "ann", 1)


def test_every_decision_is_the_fold_of_its_entry() -> None:
    table, entries = created().table, [created().entry]
    steps: Sequence[Step] = (
        BOB_SITS,
        CARA_SITS,
        ("bob", LeaveSeat()),
        ("bob", TakeSeat(seat=1, nonce="n")),
        (None, SealTable()),
    )
    for player, command in steps:
        decision = when(table, player, command)
        table = decision.table
        entries.append(decision.entry)
    folded = None
    for entry in entries:
        folded = extended(MATCH, folded, entry)
    assert folded == table
    assert [who.player for who in table.sealed] == ["ann", "bob", "cara"]


def test_a_seat_is_the_first_free_one_or_the_one_asked_for() -> None:
    table = given(created(), ("bob", TakeSeat(seat=2)))
    assert data(when(table, "cara", TakeSeat(nonce="n"))) == {"seat": 1, "nonce": "n"}


def test_an_event_is_never_older_than_the_one_before() -> None:
    decided = decide(created().table, TakeSeat(), issued("bob", at=T0 - 500))
    assert isinstance(decided, Decision)
    assert decided.event.at == T0


@pytest.mark.parametrize("player", ["ann", None])
def test_sealing_moves_players_up_in_order_of_their_seats(player: str | None) -> None:
    table = given(created(3), ("cara", TakeSeat(seat=2)))
    command: AnyTableCommand = StartTable()
    if player is None:
        table, command = given(created(3), ("cara", TakeSeat(seat=2)), BOB_SITS), SealTable()
    sealed = when(table, player, command).table
    assert [who.player for who in sealed.sealed] == (["ann", "cara"] if player else ["ann", "bob", "cara"])
    assert sealed.seat_of(PlayerId("cara")) == (1 if player else 2)


def test_the_host_who_leaves_closes_the_table_for_everybody() -> None:
    closed = when(given(created(), BOB_SITS), "ann", LeaveSeat())
    assert (closed.event.type, closed.table.status) == ("table_closed", "closed")


SEALED = given(created(2), BOB_SITS, (None, SealTable()))
CLOSED = given(created(), ("ann", LeaveSeat()))


@pytest.mark.parametrize(
    ("table", "player", "command", "refusal"),
    [
        (given(created(), BOB_SITS), "bob", TakeSeat(), errors.AlreadySeated),
        (created().table, "ann", TakeSeat(), errors.AlreadySeated),
        (created().table, "bob", TakeSeat(seat=0), errors.SeatTaken),
        (created().table, "bob", TakeSeat(seat=3), errors.BadRequest),
        (given(created(2), BOB_SITS), "cara", TakeSeat(), errors.TableFull),
        (given(created(2), BOB_SITS), "cara", TakeSeat(seat=1), errors.TableFull),
        (SEALED, "cara", TakeSeat(), errors.TableFull),
        (CLOSED, "cara", TakeSeat(), errors.TableClosed),
        (SEALED, "bob", LeaveSeat(), errors.TableClosed),
        (SEALED, "ann", StartTable(), errors.TableClosed),
        (SEALED, None, SealTable(), errors.TableClosed),
        (SEALED, None, CloseTable(note=""), errors.TableClosed),
        (created().table, "bob", LeaveSeat(), errors.NotSeated),
        (given(created(), BOB_SITS), "bob", StartTable(), errors.NotAllowed),
        (created().table, "ann", StartTable(), errors.TableNotReady),
        (given(created(), BOB_SITS), None, SealTable(), errors.TableNotReady),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(
    table: Table, player: str | None, command: AnyTableCommand, refusal: type[DomainError]
) -> None:
    with pytest.raises(refusal):
        decide(table, command, issued(player))


@pytest.mark.parametrize("table", [created(private=True).table, given(created(2, private=True), BOB_SITS)])
def test_a_stranger_learns_nothing_of_a_private_table(table: Table) -> None:
    with pytest.raises(errors.NotSeated):
        decide(table, TakeSeat(), issued("cara"))


def test_an_invitation_opens_a_private_table() -> None:
    assert (
        when(created(private=True).table, "bob", TakeSeat(), invited=True).table.seat_of(PlayerId("bob")) == 1
    )


REPEATABLE: list[tuple[Table, str, AnyTableCommand, AnyTableCommand | None]] = [
    (created().table, "bob", TakeSeat(seat=1), TakeSeat(seat=2)),
    (given(created(), BOB_SITS), "bob", LeaveSeat(), None),
    (given(created(), BOB_SITS), "ann", LeaveSeat(), None),
    (given(created(), BOB_SITS), "ann", StartTable(), None),
]


@pytest.mark.parametrize(("table", "player", "command", "other"), REPEATABLE)
def test_the_same_request_again_is_no_second_event(
    table: Table, player: str, command: AnyTableCommand, other: AnyTableCommand | None
) -> None:
    first = decide(table, command, issued(player, "r1"))
    assert isinstance(first, Decision)
    again = decide(first.table, command, issued(player, "r1", at=T0 + 9))
    assert isinstance(again, Repeated)
    assert again.version == first.event.version
    if other is not None:
        with pytest.raises(errors.RequestIdReused):
            decide(first.table, other, issued(player, "r1"))


def test_a_request_id_used_by_another_player_or_for_another_purpose_is_a_new_one() -> None:
    table = created().table
    first = decide(table, TakeSeat(), issued("bob", "r1"))
    assert isinstance(first, Decision)
    assert isinstance(decide(first.table, TakeSeat(), issued("cara", "r1")), Decision)
    assert isinstance(decide(first.table, LeaveSeat(), issued("bob", "r1")), Decision)


def test_a_table_takes_only_so_many_who_come_and_go_and_can_still_be_started() -> None:
    coming_and_going = [BOB_SITS, ("bob", LeaveSeat())] * ((CHANGES_MAX - 2) // 2)
    table = given(created(), *coming_and_going, CARA_SITS)
    assert table.version == CHANGES_MAX
    with pytest.raises(errors.LimitReached):
        decide(table, TakeSeat(), issued("bob"))
    assert when(table, "ann", StartTable()).table.status == "sealed"
