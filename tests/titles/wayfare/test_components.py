"""The tables of the board, against the words of the rules."""

import pytest

from services.titles.wayfare.components import bits, geometry
from services.titles.wayfare.points import whole_board
from tests.titles.wayfare import plain_rules
from tests.titles.wayfare.positions import SIZES

every_size = pytest.mark.parametrize("size", SIZES)


@every_size
def test_a_set_lists_its_points_row_by_row(size):
    board = geometry(size)
    assert board.listed(board.points) == list(whole_board(size))
    assert [board.point_of[bit] for bit in bits(board.points)] == list(whole_board(size))
    assert board.listed(0) == []


@every_size
def test_neighbours_are_the_points_one_step_away_and_no_edge_wraps(size):
    board = geometry(size)
    for point, bit in board.bit_of.items():
        assert set(board.listed(board.near[bit])) == set(plain_rules.neighbours(point, size))


@every_size
def test_around_is_everything_within_two_steps(size):
    board = geometry(size)
    for point, bit in board.bit_of.items():
        within_one = {point, *plain_rules.neighbours(point, size)}
        within_two = within_one.union(*(plain_rules.neighbours(place, size) for place in within_one))
        assert set(board.listed(board.around[bit])) == within_two


@every_size
def test_inward_is_the_inward_rule(size):
    board = geometry(size)
    for point, bit in board.bit_of.items():
        expected = [place for place in whole_board(size) if plain_rules.inward(point, place)]
        assert board.listed(board.inward[bit]) == expected


@every_size
def test_what_lies_inward_on_a_ray_is_one_stretch(size):
    # A guide's landings are a slice of its ray; a gap in the stretch would let it land outward.
    board = geometry(size)
    for bit, rays in board.rays.items():
        for ray in rays:
            inward = [bool(board.bit_of[place] & board.inward[bit]) for place in ray.places]
            first = inward.index(True)
            assert all(inward[first:])
            assert ray.behind == {place: max(n + 1, first) for place, n in ray.step.items()}


@every_size
def test_the_rings_divide_the_board(size):
    board = geometry(size)
    assert [mask.bit_count() for mask in board.rings] == [1, *(6 * d for d in range(1, size))]
    assert sum(board.rings) == board.points


@every_size
def test_the_potential_ranks_ring_before_line_distance(size):
    board = geometry(size)
    assert set(board.potential.values()) == set(range(max(board.potential.values()) + 1))
    for start in board.bit_of:
        for end in board.bit_of:
            lower = board.potential[board.bit_of[end]] < board.potential[board.bit_of[start]]
            assert lower == plain_rules.inward(start, end)
