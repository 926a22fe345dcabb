"""Forced passes, blocked players and their character, and the three ways a game ends."""

import pytest

from services.titles.a_way_back_home.state import IN_BOX, TURNS_MAX, Tile
from tests.titles.a_way_back_home.positions import (
    CHARACTERS,
    SIDE_A,
    TITLE,
    Given,
    counts,
    filled,
    last,
    legal,
    play,
    position,
    refused,
)

BLUES = Given("blue", "blue", "blue")


def test_place_comes_right_after_drawing_and_nothing_else_does() -> None:
    assert refused(position(pool=counts(blue=1)), "place b") == "place-after-drawing"
    drawn = play(position(pool=counts(blue=1)), "draw", luck=BLUES)
    assert refused(drawn, "draw") == "place-after-drawing"
    assert refused(drawn, "take b1") == "place-after-drawing"
    assert drawn.turn == 0


def test_drawing_empties_what_is_drawn_from_the_bag_and_placing_returns_the_rest() -> None:
    drawn = play(position(), "draw", luck=BLUES)
    assert TITLE.view(drawn, None).drawn == ("blue", "blue", "blue")
    after = play(drawn, "place b")
    assert (sum(after.bags[0]), after.pool, after.drawn) == (6, counts(blue=2), ())


def test_several_players_pass_one_after_the_other() -> None:
    state = position(*[filled()] * 4, bags=[4, 0, 2, 9], pool=counts(pink=2))
    after = play(state, "take p2")
    assert TITLE.view(after, None).passed == (1, 2)
    assert (after.turn, after.turns, after.passes) == (3, 3, 2)
    assert [player.turns_taken for player in TITLE.view(after, None).players] == [1, 1, 1, 0]


def test_passes_stay_shown_while_the_next_player_places_and_vanish_afterwards() -> None:
    state = play(position(bags=[9, 2], pool=counts(green=1)), "take g1", "draw", luck=BLUES)
    assert TITLE.view(state, None).passed == (1,)
    assert TITLE.view(play(state, "place b"), None).passed == ()


def test_passes_go_on_past_the_last_seat() -> None:
    state = position(*[filled()] * 3, bags=[2, 2, 3], turns=2, pool=counts(green=1))
    after = play(state, "take g1")
    assert TITLE.view(after, None).passed == (0, 1)
    assert after.turn == 2


def test_a_blocked_player_sends_the_character_to_the_box_and_must_take_by_the_base_rule() -> None:
    state = position(side="B", tile=Tile(0), bags=[9, 2], pool=counts(green=2, pink=1))
    after = play(state, "take g2")
    assert after.tile == Tile(0, IN_BOX)
    assert (after.turn, after.passes) == (1, 0)
    assert legal(after) == ["take p1"]


def test_a_blocked_player_with_an_empty_pool_boxes_the_character_and_passes() -> None:
    state = position(side="B", tile=Tile(0), bags=[9, 2], pool=counts(green=2))
    after = play(state, "take g2")
    assert after.tile == Tile(0, IN_BOX)
    assert (after.turn, after.passes) == (0, 1)


def test_a_tile_with_a_player_stays_there_when_somebody_is_blocked() -> None:
    state = position(side="B", tile=Tile(0, 0), bags=[9, 2], pool=counts(green=2))
    assert play(state, "take g2").tile == Tile(0, 0)


def test_a_player_who_can_draw_leaves_a_character_that_cannot_be_used_in_the_pool() -> None:
    state = play(position(side="B", tile=Tile(0), bags=[9, 3], pool=counts(green=2)), "take g2")
    assert state.tile == Tile(0)
    assert legal(state) == ["draw"]


def test_all_players_blocked_ends_the_game_and_ties_count_from_the_last_active_seat() -> None:
    boards = [filled(green=3), filled(green=3), filled(green=3)]
    state = position(*boards, bags=[2, 1, 0], turns=31, pool=counts(green=1))
    after = play(state, "take g1")
    outcome = TITLE.outcome(after)
    assert (outcome.reason, outcome.scores, outcome.winners) == ("all_blocked", (0, 0, 0), (1,))
    assert TITLE.to_act(after) == frozenset()
    shown = TITLE.view(after, 1)
    assert (shown.phase, shown.turn, shown.ending) == ("over", None, "all_blocked")
    assert shown.passed == (2, 0, 1)


def test_all_blocked_leaves_a_character_in_the_box() -> None:
    state = position(side="B", tile=Tile(0), bags=[0, 0], pool=counts(green=2))
    assert play(state, "take g2").tile == Tile(0, IN_BOX)
    assert TITLE.outcome(play(state, "take g2")).reason == "all_blocked"


def test_a_hundred_turns_each_end_the_game() -> None:
    state = position(start=1, turns=2 * TURNS_MAX - 1, drawn="blue blue blue")
    assert (TITLE.outcome(state), state.turn) == (None, 0)
    outcome = TITLE.outcome(play(state, "place b"))
    assert (outcome.reason, outcome.winners) == ("turn_limit", (1,))


def test_the_turn_limit_is_not_looked_at_once_the_end_is_declared() -> None:
    state = position(
        filled(), filled(blue=2), start=0, turns=2 * TURNS_MAX - 1, bags=[9, 0], drawn="blue blue blue"
    )
    assert state.turn == 1
    after = play(state, "place b end")
    assert TITLE.to_act(after) == {0}
    after = play(after, "draw", "place b", luck=BLUES)
    assert TITLE.outcome(after).reason == "end_declared"


def test_the_turn_limit_counts_ties_from_the_last_seat_that_did_not_pass() -> None:
    state = position(*[filled()] * 3, bags=[9, 9, 0], start=0, turns=3 * TURNS_MAX - 2, pool=counts(green=1))
    outcome = TITLE.outcome(play(state, "take g1"))
    assert (outcome.reason, outcome.winners) == ("turn_limit", (1,))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_after_a_declaration_every_other_player_has_exactly_one_turn(players: int) -> None:
    boards = [filled(blue=3)] + [filled()] * (players - 1)
    state = play(position(*boards, bags=[0], drawn="blue blue blue"), "place b end")
    seats = []
    while TITLE.to_act(state):
        seats.append(state.turn)
        state = play(state, "draw", "place b", luck=BLUES)
    assert seats == list(range(1, players))


def test_a_pass_uses_up_the_one_turn_after_a_declaration() -> None:
    state = position(*[filled(blue=3)] * 3, bags=[0, 2, 0], drawn="blue blue blue")
    state = play(state, "place b b end", "take b1")
    assert TITLE.view(state, None).passed == (2,)
    assert TITLE.outcome(state).reason == "end_declared"


def test_a_second_declaration_is_refused() -> None:
    state = position(filled(blue=3), filled(blue=3), bags=[0], declared_by=1, drawn="blue blue blue")
    assert refused(state, "place b end") == "declare-once"
    assert not any(line.endswith("end") for line in legal(state))


def test_nothing_placed_still_lets_the_end_be_declared() -> None:
    state = position(filled(green=7), bags=[0], drawn="green green green")
    assert legal(state) == ["place -", "place - end"]
    assert play(state, "place - end").declared_by == 0


def test_a_game_that_is_over_accepts_nothing() -> None:
    state = position(declared_by=0, pool=counts(blue=1))
    for line in ("draw", "take b1", "place b"):
        assert refused(state, line) == "game-is-over"
    assert legal(state) == []


def test_only_the_seat_to_act_has_legal_moves() -> None:
    state = position()
    assert list(TITLE.legal_moves(state, 1)) == []
    assert legal(state) == ["draw"]


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("options", [SIDE_A, CHARACTERS[3]])
def test_a_game_ends_even_if_nobody_ever_declares(options: object, seats: int) -> None:
    end = last(options, seats, seed=seats, declares=False)
    assert end.turns <= TURNS_MAX * seats
    assert TITLE.outcome(end).reason in ("turn_limit", "all_blocked")


@pytest.mark.parametrize("start", [0, 1])
def test_the_last_active_seat_before_any_turn_is_the_starting_seat(start: int) -> None:
    assert position(start=start).last_active == start
