"""What holds at every turn of every game."""

import pytest

from services.titles.wayfare.components import geometry
from services.titles.wayfare.moves import GuideMove
from services.titles.wayfare.state import State
from tests.titles.wayfare.plain_rules import acceptable
from tests.titles.wayfare.positions import SIZES, TITLE, opening, pieces_of, turns

GAMES = [(6, seed) for seed in range(12)] + [(8, seed) for seed in range(3)] + [(10, 0)]

every_game = pytest.mark.parametrize(("size", "seed"), GAMES)


def pieces(state: State, seat: int) -> int:
    return state.guides[seat].bit_count() + state.adventurers[seat].bit_count()


def totals(state: State) -> tuple[int, int]:
    """All guides, all adventurers."""
    guides, adventurers = (white | black for white, black in (state.guides, state.adventurers))
    return guides.bit_count(), adventurers.bit_count()


def potential(state: State) -> int:
    """The sum over all pieces of the rank of their (ring, line distance)."""
    board = geometry(state.size)
    return sum(board.potential[board.bit_of[point]] for point in pieces_of(state))


@every_game
def test_no_point_holds_two_pieces_and_all_are_on_the_board(size, seed):
    for turn in turns(seed, size):
        state = turn.after
        assert state.occupied & ~state.geometry.points == 0
        assert state.occupied.bit_count() == pieces(state, 0) + pieces(state, 1)


@every_game
def test_a_guide_move_turns_one_enemy_guide_into_an_adventurer_of_the_mover(size, seed):
    for before, seat, move, after in turns(seed, size):
        if isinstance(move, GuideMove):
            guides, adventurers = totals(before)
            assert totals(after) == (guides - 1, adventurers + 1)
            assert pieces(after, seat) == pieces(before, seat) + 1
            assert pieces(after, 1 - seat) == pieces(before, 1 - seat) - 1


@every_game
def test_an_adventurer_move_takes_at_most_the_piece_it_lands_on_of_the_kind_followed(size, seed):
    captures = 0
    for before, seat, move, after in turns(seed, size):
        if isinstance(move, GuideMove):
            continue
        landed_on = pieces_of(before).get(move.to)
        expected = pieces_of(before) | {move.to: f"{'WB'[seat]}A"}
        del expected[move.from_]
        assert pieces_of(after) == expected
        if landed_on:
            captures += 1
            assert landed_on == "BW"[seat] + ("G" if move.ref == "guide" else "A")
    assert captures > 0


@every_game
def test_guides_never_increase_and_bound_the_guide_moves(size, seed):
    guide_moves = captured_guides = 0
    for before, _, move, after in turns(seed, size):
        assert all(after.guides[n].bit_count() <= before.guides[n].bit_count() for n in (0, 1))
        if isinstance(move, GuideMove):
            guide_moves += 1
        else:
            captured_guides += totals(before)[0] - totals(after)[0]
    assert guide_moves + captured_guides <= 6 * (2 * size - 5)


@every_game
def test_every_move_lowers_the_potential(size, seed):
    for turn in turns(seed, size):
        assert potential(turn.after) < potential(turn.before)


@pytest.mark.parametrize(("size", "bound"), [(6, 384), (8, 1062), (10, 2256)])
def test_the_potential_at_the_start_bounds_the_length_of_a_game(size, bound):
    assert potential(opening(size)) == bound
    plies = sum(1 for _ in turns(1, size))
    assert plies < bound


@every_game
def test_the_side_to_move_has_a_move_or_neither_has(size, seed):
    for turn in turns(seed, size):
        after = turn.after
        if after.ply % 7 and after.turn == 1 - turn.seat:
            continue  # The plain rules are slow: all passes and ends, and of the rest a sample.
        can = [bool(acceptable(pieces_of(after), size, colour)) for colour in "WB"]
        if after.turn is None:
            assert can == [False, False]
        else:
            assert can[after.turn]
            assert after.passed == (after.turn == turn.seat)
            assert after.passed == (not can[1 - turn.seat])


@pytest.mark.parametrize("size", SIZES)
def test_a_game_counts_its_moves_and_no_passes(size):
    for ply, turn in enumerate(turns(2, size)):
        assert (turn.before.ply, turn.after.ply) == (ply, ply + 1)
    assert turn.after.turn is None
    assert TITLE.outcome(turn.after) is not None
