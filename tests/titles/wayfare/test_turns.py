"""Passing, and the end."""

import pytest

from services.core.title import Outcome
from services.titles.wayfare.moves import AdventurerMove, GuideMove
from services.titles.wayfare.rules import settled
from services.titles.wayfare.state import placed
from tests.titles.wayfare.positions import NO_LUCK, TITLE, turns, white

# White's only piece has no company; Black has two adventurers, each beside a guide and far from the other.
BLACK_ALONE = {(3, 0): "WA", (0, 3): "BA", (0, 4): "BG", (-4, 0): "BA", (-4, -1): "BG"}


def test_a_side_whose_enemy_has_no_move_moves_again():
    state = settled(placed(6, BLACK_ALONE, turn=1))
    assert (state.turn, state.passed) == (1, False)
    after = TITLE.apply(state, 1, AdventurerMove((0, 3), (0, 2), "guide"), NO_LUCK)
    assert (after.turn, after.passed, after.ply) == (1, True, 1)
    assert TITLE.legal_moves(after, 0) == []
    assert {move.from_ for move in TITLE.legal_moves(after, 1)} == {(-4, 0)}


def test_a_pass_is_told_by_the_view_and_forgotten_with_the_next_move_that_needs_none():
    passes = [turn for turn in turns(5) if turn.after.passed]
    assert passes
    for turn in passes:
        assert turn.after.turn == turn.seat
        assert TITLE.view(turn.after, None).passed
    for turn in turns(5):
        if turn.after.turn == 1 - turn.seat:
            assert not TITLE.view(turn.after, None).passed


def test_the_game_ends_when_neither_side_can_move_though_nobody_passed():
    state = white(6, {(2, 0): "WG", (1, 0): "BG"})
    after = TITLE.apply(state, 0, GuideMove((2, 0), (0, 0)), NO_LUCK)
    assert after.turn is None
    assert not after.passed
    assert TITLE.to_act(after) == frozenset()
    assert TITLE.outcome(after) == Outcome((0,), "nearest_the_centre")


def test_there_is_no_outcome_while_anyone_can_move():
    assert TITLE.outcome(settled(white(6, BLACK_ALONE))) is None


@pytest.mark.parametrize(
    ("pieces", "winners", "reason"),
    [
        ({(0, 0): "WA", (1, 0): "BA"}, (0,), "nearest_the_centre"),
        ({(0, 0): "WG", (1, 0): "BA"}, (1,), "nearest_the_centre"),
        ({(3, 0): "WA", (-3, 0): "BA"}, (0, 1), "all_rings_level"),
        ({}, (0, 1), "all_rings_level"),
    ],
)
def test_the_outcome_is_the_comparison_ring_by_ring(pieces, winners, reason):
    over = settled(white(6, pieces))
    assert over.turn is None
    assert TITLE.outcome(over) == Outcome(winners, reason)


@pytest.mark.parametrize(("compare", "winner"), [("presence", 1), ("count", 0)])
def test_the_option_says_what_the_rings_are_compared_by(compare, winner):
    pieces = {(1, 0): "WA", (-1, 0): "WA", (-1, 1): "BA", (5, 0): "BA"}
    over = settled(placed(6, pieces, 0, compare))
    assert TITLE.outcome(over) == Outcome((winner,), "nearest_the_centre")
