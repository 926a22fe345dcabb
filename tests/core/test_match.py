import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from services.core.clock import GRACE_MS, Fischer
from services.core.commands import (
    Abort,
    AnswerDraw,
    AnswerTakeback,
    FlagClock,
    Issued,
    OfferDraw,
    RequestTakeback,
    Resign,
    SubmitMove,
)
from services.core.decide import Repeated, decide
from services.core.errors import (
    ClockExpired,
    ClockRunning,
    DomainError,
    HistoryCorrupt,
    MatchOver,
    MoveIllegal,
    MoveUnreadable,
    NoMoreOffers,
    NothingToAnswer,
    NotSeated,
    NotYourTurn,
    OfferOpen,
    RequestIdReused,
    TakebackRefused,
    VersionConflict,
)
from services.core.events import seal, text_of
from services.core.ids import PlayerId
from services.core.replay import extended, fold
from services.core.title import Outcome
from tests.core.matches import ANN, BOB, CARA, MATCH, SEED, T0, TOY, Table, ruleset_for


def card_of(table, seat, place=0):
    return SubmitMove(move=Raw(b'{"type":"play","card":%d}' % sorted(table.match.state.hands[seat])[place]))


def refusal(table, player, command, at=T0, request_id=""):
    before = table.match
    with pytest.raises(DomainError) as caught:
        decide(before, command, Issued(player=player, at=at, request_id=request_id))
    assert table.match is before
    return caught.value


def test_the_decided_match_is_the_folded_match_at_every_version():
    table = Table(seats=3, clock=Fischer(60_000, 1_000))
    decided = [table.match]
    while not table.match.outcome:
        table.moves(1, at=table.match.at + 700)
        decided.append(table.match)
    for version, match in enumerate(decided, 1):
        folded = fold(MATCH, SEED, table.entries[:version], ruleset_for)
        assert msgspec.structs.replace(folded, ruleset=match.ruleset) == match
    assert len(decided) == 10


def test_a_move_out_of_turn_is_refused():
    table = Table()
    error = refusal(table, BOB, card_of(table, 1))
    assert isinstance(error, NotYourTurn)
    assert error.facts == {"seat": 1, "version": 1}


def test_a_move_by_a_stranger_is_refused():
    table = Table()
    assert isinstance(refusal(table, CARA, card_of(table, 0)), NotSeated)


def test_an_illegal_move_names_its_rule():
    table = Table()
    foreign = table.match.state.hands[1][0]
    error = refusal(table, ANN, SubmitMove(move=Raw(b'{"type":"play","card":%d}' % foreign)))
    assert isinstance(error, MoveIllegal)
    assert error.rule == "card-in-hand"


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"null", b"[]", b'{"type":"fly"}', b'{"type":"play","card":"x"}', b"\xff"]
)
def test_what_is_no_move_is_unreadable(raw):
    assert isinstance(refusal(Table(), ANN, SubmitMove(move=Raw(raw))), MoveUnreadable)


def test_an_unknown_field_in_a_move_is_unreadable():
    error = refusal(Table(), ANN, SubmitMove(move=Raw(b'{"type":"play","card":1,"cheat":true}')))
    assert isinstance(error, MoveUnreadable)


def test_a_stale_version_is_refused_with_both_numbers():
    table = Table().moves(2)
    error = refusal(table, ANN, msgspec.structs.replace(card_of(table, 0), expected_version=2))
    assert isinstance(error, VersionConflict)
    assert error.facts == {"expected": 2, "actual": 3}


def test_padding_in_a_clients_json_is_not_stored():
    table = Table()
    card = sorted(table.match.state.hands[0])[0]
    padded = b'{ "type": "play",   "card": %d }' % card
    table.does(ANN, SubmitMove(move=Raw(padded)))
    assert b'"data":{"move":{"type":"play","card":%d}}' % card in table.entries[-1].body


def test_the_same_request_again_is_told_its_first_version():
    table = Table()
    first = card_of(table, 0)
    table.does(ANN, first, request_id="r1")
    table.moves(3)
    again = decide(table.match, first, Issued(player=ANN, at=T0, request_id="r1"))
    assert again == Repeated(2)


def test_a_request_id_with_another_command_is_refused():
    table = Table()
    other = card_of(table, 0, place=1)
    table.does(ANN, card_of(table, 0), request_id="r1")
    error = refusal(table, ANN, other, request_id="r1")
    assert isinstance(error, RequestIdReused)
    assert error.version == 2


def test_request_ids_are_each_players_own():
    table = Table()
    table.does(ANN, card_of(table, 0), request_id="r1")
    table.does(BOB, card_of(table, 1), request_id="r1")
    assert table.match.version == 3


def test_resigning_ends_the_match_and_reveals_the_seed():
    table = Table(seats=3)
    match = table.does(BOB, Resign())
    assert match.outcome == Outcome((0, 2), "resignation")
    assert text_of(SEED).encode() in table.entries[-1].body
    assert match.to_act == frozenset()
    assert isinstance(refusal(table, ANN, card_of(table, 0)), MatchOver)


def test_the_seed_is_in_no_entry_before_the_last():
    table = Table().moves()
    assert all(text_of(SEED).encode() not in entry.body for entry in table.entries[:-1])
    assert text_of(SEED).encode() in table.entries[-1].body


def test_a_draw_needs_every_other_seat():
    table = Table(seats=3)
    table.does(ANN, OfferDraw())
    assert table.does(BOB, AnswerDraw(offer=2, accept=True)).outcome is None
    assert table.does(CARA, AnswerDraw(offer=2, accept=True)).outcome == Outcome((0, 1, 2), "agreement")


def test_a_declined_draw_is_gone():
    table = Table()
    table.does(ANN, OfferDraw())
    table.does(BOB, AnswerDraw(offer=2, accept=False))
    assert isinstance(refusal(table, BOB, AnswerDraw(offer=2, accept=True)), NothingToAnswer)


def test_a_move_withdraws_the_draw_offer():
    table = Table()
    table.does(BOB, OfferDraw())
    table.moves(1)
    assert isinstance(refusal(table, ANN, AnswerDraw(offer=2, accept=True)), NothingToAnswer)


@pytest.mark.parametrize(("player", "offer"), [(ANN, 2), (BOB, 1), (BOB, 3)])
def test_an_answer_must_come_from_another_seat_and_quote_the_open_offer(player, offer):
    table = Table()
    table.does(ANN, OfferDraw())
    assert isinstance(refusal(table, player, AnswerDraw(offer=offer, accept=True)), NothingToAnswer)


def test_one_draw_offer_at_a_time():
    table = Table()
    table.does(ANN, OfferDraw())
    assert isinstance(refusal(table, BOB, OfferDraw()), OfferOpen)


@pytest.mark.parametrize("command", [OfferDraw(), RequestTakeback()])
def test_players_cannot_make_a_match_endless_by_talking(command, monkeypatch):
    monkeypatch.setattr("services.core.decide.OFFERS_UNTIL", 3)
    table = Table(Forgiving()).moves(2)
    error = refusal(table, ANN, command)
    assert isinstance(error, NoMoreOffers)
    assert error.limit == 3
    table.moves()
    assert table.match.outcome is not None


def test_a_title_without_takebacks_refuses_them():
    assert isinstance(refusal(Table().moves(1), ANN, RequestTakeback()), TakebackRefused)


class Forgiving(type(TOY[1])):
    takebacks = True


def test_a_takeback_restores_the_position_before_the_seats_last_move():
    table = Table(Forgiving())
    before = table.match.state
    table.moves(1)
    table.does(ANN, RequestTakeback())
    match = table.does(BOB, AnswerTakeback(request=3, accept=True))
    assert match.state == before
    assert match.to_act == {0}
    assert match.version == 4
    assert fold(MATCH, SEED, table.entries, lambda *_: match.ruleset) == match


def test_a_takeback_never_crosses_luck():
    table = Table(Forgiving()).moves(2)  # the second move ends the round, and the wind is blown
    assert isinstance(refusal(table, BOB, RequestTakeback()), TakebackRefused)


def test_a_takeback_in_three_waits_for_both_others():
    table = Table(Forgiving(), seats=3).moves(1)
    table.does(ANN, RequestTakeback())
    assert table.does(CARA, AnswerTakeback(request=3, accept=True)).takeback is not None
    assert table.does(BOB, AnswerTakeback(request=3, accept=True)).to_act == {0}


def test_a_flag_falls_only_after_deadline_and_grace():
    table = Table(clock=Fischer(10_000))
    deadline = T0 + 10_000
    assert table.match.flag == (0, deadline)
    assert isinstance(refusal(table, None, FlagClock(), at=deadline + GRACE_MS), ClockRunning)
    match = table.does(None, FlagClock(), at=deadline + GRACE_MS + 1)
    assert match.outcome == Outcome((1,), "time")


def test_a_move_after_the_deadline_is_too_late_and_at_the_deadline_is_not():
    table = Table(clock=Fischer(10_000))
    assert isinstance(refusal(table, ANN, card_of(table, 0), at=T0 + 10_001), ClockExpired)
    assert table.does(ANN, card_of(table, 0), at=T0 + 10_000).remaining == (0, 10_000)


def test_talk_does_not_stop_the_clock():
    table = Table(clock=Fischer(10_000, 500))
    table.does(BOB, OfferDraw(), at=T0 + 4_000)
    table.does(ANN, card_of(table, 0), at=T0 + 6_000)
    assert table.match.remaining == (4_500, 10_000)


def test_time_never_runs_backwards():
    table = Table()
    table.does(ANN, card_of(table, 0), at=T0 + 5_000)
    assert table.does(BOB, card_of(table, 1), at=T0 + 1_000).at == T0 + 5_000


def test_an_operator_can_abort_and_nobody_wins():
    match = Table().does(None, Abort(note="cheating"))
    assert match.outcome == Outcome((), "abort")


def test_luck_is_not_changed_by_talk():
    plain, talking = Table(), Table()
    talking.does(BOB, OfferDraw())
    assert plain.moves(2).match.state.wind == talking.moves(2).match.state.wind


def test_a_folded_match_goes_on_from_any_version():
    table = Table().moves()
    match = fold(MATCH, SEED, table.entries[:3], ruleset_for)
    for entry in table.entries[3:]:
        match = extended(match, entry).match
    assert match.outcome == table.match.outcome
    assert match.seat_of(PlayerId("nobody")) is None


def test_nothing_follows_the_end_even_with_a_mended_chain():
    table = Table()
    ended = table.does(ANN, Resign())
    table.decision = replace(table.decision, match=replace(ended, outcome=None))
    table.does(BOB, OfferDraw())
    with pytest.raises(HistoryCorrupt, match="damaged at version 3: draw_offered after the end"):
        fold(MATCH, SEED, table.entries, ruleset_for)


def blamed(command, by, player=ANN):
    """A stream that ends with what `player` has just done, said to be by somebody else, its chain mended."""
    table = Table(clock=Fischer(10_000))
    before = table.match
    table.does(player, card_of(table, 0) if command is SubmitMove else command, at=T0 + 20_000 * (not player))
    event = replace(table.decision.event, by=by, request_id="r")
    return event.type, [*table.entries[:-1], seal(event, before.head)]


@pytest.mark.parametrize("by", ["system", "ann", 2, 99, -1])
@pytest.mark.parametrize("command", [SubmitMove, OfferDraw(), Resign()])
def test_what_nobody_at_the_table_did_is_damage_even_with_a_mended_chain(command, by):
    what, entries = blamed(command, by)
    with pytest.raises(HistoryCorrupt, match=f"damaged at version 2: {what} by {by}"):
        fold(MATCH, SEED, entries, ruleset_for)


@pytest.mark.parametrize("by", [0, 99, "ann"])
@pytest.mark.parametrize("command", [FlagClock(), Abort()])
def test_what_only_the_system_does_is_damage_when_another_did_it(command, by):
    what, entries = blamed(command, by, player=None)
    with pytest.raises(HistoryCorrupt, match=f"damaged at version 2: {what} by {by}"):
        fold(MATCH, SEED, entries, ruleset_for)


def test_a_match_begins_once():
    table = Table()
    again = replace(table.decision.event, version=2, request_id="r")
    with pytest.raises(HistoryCorrupt, match="damaged at version 2: begins again"):
        fold(MATCH, SEED, [*table.entries, seal(again, table.match.head)], ruleset_for)
