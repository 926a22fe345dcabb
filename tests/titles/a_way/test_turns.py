"""Phases of a turn, refilling, rounds and the end."""

import pytest

from services.titles.a_way.state import LAST_ROUND, State
from tests.titles.a_way.positions import (
    ROW,
    TITLE,
    Reversing,
    ids,
    legal,
    play,
    position,
    refused,
    sky,
)

FIVE = "A1-magnetic_field A1-hyperdrive A2-black_hole A2-magnetic_field E1P1"


def kinds(state: State) -> set[str]:
    return {line.split()[0] for line in legal(state)}


def test_the_main_phase_allows_a_flight_or_cards_or_a_discard() -> None:
    state = position(hand=FIVE)
    assert kinds(state) == {"fly", "play", "discard"}
    assert refused(state, "skip") == "phase-allows-move"
    assert refused(state, "end") == "phase-allows-move"
    assert refused(state, "resolve 0,1 r0") == "phase-allows-move"


def test_after_a_flight_comes_the_optional_flight() -> None:
    state = play(position(hand=FIVE), "fly S9.se")
    assert (state.phase, state.turn) == ("optional_move", 0)
    assert kinds(state) == {"fly", "skip"}
    assert refused(state, "discard E1P1") == "phase-allows-move"
    assert play(state, "fly S7.e").turn == 1


def test_cards_are_played_until_the_player_ends_it() -> None:
    state = play(position(hand=FIVE), "play A1-magnetic_field S5 r1")
    assert (state.phase, state.faction) == ("playing", 1)
    assert kinds(state) == {"play", "end"}
    assert refused(state, "fly S9.se") == "phase-allows-move"
    assert refused(state, "play A2-magnetic_field S5 r2") == "one-faction-a-turn"
    ended = play(state, "play E1P1 0,1 r0", "end")
    assert (ended.phase, ended.faction) == ("optional_move", 0)


def test_a_player_without_a_playable_card_still_ends_the_play_by_a_move() -> None:
    state = play(position(hand="A1-magnetic_field"), "play A1-magnetic_field S5 r1")
    assert legal(state) == ["end"]


def test_one_to_three_different_cards_are_discarded_in_the_order_given() -> None:
    state = play(position(hand=FIVE), "discard E1P1 A1-hyperdrive A2-black_hole")
    assert ids(state.discard[-3:]) == "E1P1 A1-hyperdrive A2-black_hole"
    assert state.phase == "optional_move"
    assert refused(position(hand=FIVE), "discard E1P1 E1P1") == "discards-differ"
    assert refused(position(hand=FIVE), "discard E1P1 E1P3") == "card-in-hand"
    assert len(legal(position(hand=FIVE), "discard")) == 5 + 20 + 60


def test_the_hand_is_refilled_to_five_from_the_top_of_the_draw_pile() -> None:
    state = play(position(hand=FIVE, draw="E1P3 E1P7 E1P9"), "discard E1P1 A1-hyperdrive", "skip")
    assert ids(state.hands[0]) == "E1P3 E1P7 A1-magnetic_field A2-magnetic_field A2-black_hole"
    assert ids(state.draw_pile) == "E1P9"


def test_an_empty_draw_pile_is_renewed_from_the_discard_pile_but_for_its_top() -> None:
    luck = Reversing(0)
    state = position(hand=FIVE, draw="E1P3", discard="E2P2 E2P4 E2P6")
    after = play(state, "discard E1P1 A1-hyperdrive", "skip", luck=luck)
    assert luck.asked == ["shuffle 4"]
    assert ids(after.discard) == "A1-hyperdrive"
    assert set(ids(after.hands[0]).split()) - set(FIVE.split()) == {"E1P3"}
    assert ids(after.draw_pile) == "E2P6 E2P4 E2P2"
    assert [notice.kind for notice in after.notices] == ["pile_renewed"]


def test_a_draw_pile_that_is_just_enough_is_not_renewed() -> None:
    state = position(hand=FIVE, draw="E1P3", discard="E2P2 E2P4 E2P6")
    after = play(state, "discard E1P1", "skip")
    assert (after.draw_pile, len(after.discard)) == ((), 4)


def test_drawing_stops_when_both_piles_are_used_up() -> None:
    after = play(position(hand="A1-magnetic_field E1P3", draw="", discard="E2P2"), "fly S9.se", "skip")
    assert len(after.hands[0]) == 2
    assert ids(after.discard) == "E2P2"


def test_the_hand_is_refilled_after_the_very_last_turn_too() -> None:
    state = position("S5.e", "S9.nw", hand_1="E1P1 E1P3 E1P7 E1P9", draw="E2P2", turn=1)
    end = play(state, "fly E")
    assert end.phase == "over"
    assert ids(end.hands[1]) == "E1P1 E1P3 E1P7 E1P9 E2P2"


def test_the_optional_flight_falls_away_where_there_is_no_destination_and_the_view_tells_it() -> None:
    lone = sky(E1P3=(9, 9, 0))
    state = play(position("E1P3.c", hand=FIVE, on=lone), "discard E1P1")
    assert (state.turn, state.phase) == (1, "main")
    assert len(state.hands[0]) == 5
    assert [(notice.kind, notice.seat) for notice in TITLE.view(state, None).notices] == [("no_flight", 0)]


def test_notices_are_about_the_last_move_only() -> None:
    lone = sky(E1P3=(9, 9, 0))
    state = play(position("E1P3.c", hand=FIVE, on=lone), "discard E1P1", "fly S1.nw")
    assert state.notices == ()


def test_an_arrival_in_the_main_action_ends_the_turn_without_a_second_flight() -> None:
    state = play(position("S1.sw", hand=FIVE), "fly W")
    assert (state.turn, state.phase, state.arrivals) == (1, "main", (0,))


def test_an_arrival_by_card_ends_the_playing_at_once() -> None:
    for card in ("A1-hyperdrive", "A1-solar_winds"):
        state = play(position("S1.sw", hand=f"{card} A1-magnetic_field"), f"play {card} W")
        assert (state.turn, state.phase, state.faction, state.arrivals) == (1, "main", 0, (0,))
        assert ids(state.discard[-1:]) == card


def test_an_arrival_on_the_optional_flight_ends_the_turn() -> None:
    state = play(position("S1.sw", hand=FIVE), "discard E1P1", "fly W")
    assert (state.turn, state.arrivals) == (1, (0,))
    assert [notice.kind for notice in state.notices] == ["arrived"]


def test_a_ship_that_has_arrived_may_not_be_attacked() -> None:
    state = play(position("S1.sw", hand=FIVE, hand_1="A1-pirate_attack"), "fly W")
    assert refused(state, "play A1-pirate_attack 0 S1.sw") == "attacked-ship-off-base"


def test_a_round_ends_with_the_seat_before_the_one_that_began() -> None:
    state = play(position("S7.e", "S3.e", start=1, turn=1, round=4), "fly S3.s", "skip")
    assert (state.turn, state.round) == (0, 4)
    assert play(state, "fly S7.w", "skip").round == 5


@pytest.mark.parametrize(("ships", "winner"), [(("S1.sw", "S5.w"), 0), (("S5.e", "S9.nw"), 1)])
def test_after_the_last_round_the_ship_nearest_to_its_home_wins(ships: tuple[str, str], winner: int) -> None:
    state = position(*ships, turn=1, round=LAST_ROUND, phase="optional_move")
    outcome = TITLE.outcome(play(state, "skip"))
    assert (outcome.winners, outcome.reason) == ((winner,), "nearest_home")


def test_equally_near_ships_draw_after_the_last_round() -> None:
    end = play(position(turn=1, round=LAST_ROUND, phase="optional_move"), "skip")
    assert TITLE.outcome(end).winners == (0, 1)


def test_a_ship_that_cannot_get_home_is_further_away_than_any_other() -> None:
    lone = sky(ROW, E1P3=(9, 9, 0))
    end = play(position("E1P3.c", "S1.nw", on=lone, turn=1, round=LAST_ROUND, phase="optional_move"), "skip")
    assert TITLE.outcome(end).winners == (1,)


def test_ships_that_both_cannot_get_home_draw() -> None:
    lone = sky(ROW, E1P3=(9, 9, 0), E3P3=(9, 10, 0))
    ending = position("E1P3.c", "E3P3.c", on=lone, turn=1, round=LAST_ROUND, phase="optional_move")
    assert TITLE.outcome(play(ending, "skip")).winners == (0, 1)


def test_an_arrival_in_the_last_round_counts_as_any_other() -> None:
    end = play(position("S5.e", "S9.nw", turn=1, round=LAST_ROUND), "fly E")
    assert TITLE.outcome(end).reason == "arrival"


def test_the_round_before_the_last_does_not_end_the_match() -> None:
    state = play(position(turn=1, round=LAST_ROUND - 1, phase="optional_move"), "skip")
    assert (state.round, state.phase) == (LAST_ROUND, "main")
