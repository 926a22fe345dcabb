"""The number of move sequences from the first position, against counts that two other programs agreed on."""

import pytest

from services.titles.wayfare.state import State
from tests.titles.wayfare.positions import NO_LUCK, TITLE, opening


def sequences(state: State, depth: int) -> int:
    moves = [] if state.turn is None else TITLE.legal_moves(state, state.turn)
    if depth == 1:
        return len(moves)
    return sum(sequences(TITLE.apply(state, state.turn, move, NO_LUCK), depth - 1) for move in moves)


@pytest.mark.parametrize(
    ("size", "depth", "count"),
    [
        (6, 1, 90),
        (6, 2, 7_806),
        (6, 3, 581_772),
        (8, 1, 240),
        (8, 2, 56_730),
        pytest.param(8, 3, 11_998_062, marks=pytest.mark.slow),
        (10, 1, 462),
        (10, 2, 211_638),
    ],
)
def test_the_sequences_of_moves_are_as_many_as_published(size, depth, count):
    assert sequences(opening(size), depth) == count
