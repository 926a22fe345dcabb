"""The board and the first position."""

import pytest

from services.titles.wayfare.moves import Options
from services.titles.wayfare.points import whole_board
from tests.titles.wayfare.positions import SIZES, opening, pieces_of

# Size 8, written out: side k of the outer and of the inner row.
OUTER = [
    [(7, -1), (7, -2), (7, -3), (7, -4), (7, -5), (7, -6)],
    [(6, -7), (5, -7), (4, -7), (3, -7), (2, -7), (1, -7)],
    [(-1, -6), (-2, -5), (-3, -4), (-4, -3), (-5, -2), (-6, -1)],
    [(-7, 1), (-7, 2), (-7, 3), (-7, 4), (-7, 5), (-7, 6)],
    [(-6, 7), (-5, 7), (-4, 7), (-3, 7), (-2, 7), (-1, 7)],
    [(1, 6), (2, 5), (3, 4), (4, 3), (5, 2), (6, 1)],
]
INNER = [
    [(6, -1), (6, -2), (6, -3), (6, -4), (6, -5)],
    [(5, -6), (4, -6), (3, -6), (2, -6), (1, -6)],
    [(-1, -5), (-2, -4), (-3, -3), (-4, -2), (-5, -1)],
    [(-6, 1), (-6, 2), (-6, 3), (-6, 4), (-6, 5)],
    [(-5, 6), (-4, 6), (-3, 6), (-2, 6), (-1, 6)],
    [(1, 5), (2, 4), (3, 3), (4, 2), (5, 1)],
]


def test_the_first_position_of_size_8_is_the_one_written_out():
    expected = {}
    for k in range(6):
        expected |= dict.fromkeys(OUTER[k], "WG" if k % 2 == 0 else "BG")
        expected |= dict.fromkeys(INNER[k], "BG" if k % 2 == 0 else "WG")
    assert pieces_of(opening(8)) == expected


@pytest.mark.parametrize(("size", "points", "guides"), [(6, 91, 21), (8, 169, 33), (10, 271, 45)])
def test_points_and_guides_are_as_many_as_the_size_says(size, points, guides):
    assert len(list(whole_board(size))) == points
    state = opening(size)
    assert [mask.bit_count() for mask in state.guides] == [guides, guides]
    assert state.adventurers == (0, 0)


@pytest.mark.parametrize("size", SIZES)
def test_white_moves_first_and_nobody_has_passed(size):
    state = opening(size)
    assert (state.turn, state.ply, state.passed) == (0, 0, False)


@pytest.mark.parametrize("size", SIZES)
def test_the_corners_of_both_rows_are_free(size):
    for d in (size - 1, size - 2):
        corners = {(d, 0), (d, -d), (0, -d), (-d, 0), (-d, d), (0, d)}
        assert not corners & set(pieces_of(opening(size)))


def test_the_default_is_size_8_compared_by_presence():
    assert Options() == Options(size=8, final_compare="presence")
