"""The invariants of A Way Back Home for the long run: mostly those that test_invariants has."""

from collections.abc import Sequence
from random import Random

from services.titles.a_way_back_home.state import IN_BOX, IN_POOL, State
from tests.titles.a_way_back_home import test_invariants as told
from tests.titles.found import Ply

AT_EVERY_TURN = (
    told.test_crystals_are_conserved,
    told.test_a_coloured_crystal_lies_only_on_its_own_path,
    told.test_a_draw_turn_moves_three_crystals_from_the_bag_to_board_and_pool,
    told.test_a_take_moves_the_same_crystals_from_pool_to_bag,
    told.test_no_count_is_ever_negative,
    told.test_nobody_can_declare_before_the_own_eleventh_turn,
    told.test_no_match_lasts_longer_than_a_hundred_turns_each,
)
SAMPLED = (
    told.test_boards_never_lose_or_change_a_crystal,
    told.test_the_unshared_spaces_of_a_path_are_lit_in_order,
    told.test_the_tile_lies_with_a_seat_exactly_while_its_front_is_on_the_building,
    told.test_whoever_is_to_act_has_a_legal_move,
)


def check(plies: Sequence[Ply], rng: Random) -> None:
    """Fails unless all of a match keeps to the rules."""
    steps = [(ply.before, ply.move, ply.after) for ply in plies]
    for invariant in AT_EVERY_TURN:
        invariant([steps])
    for invariant in SAMPLED:
        invariant([steps[rng.randrange(8) :: 8]])  # each step by itself
    for ply in plies:
        _check_tile(ply.before, ply.after)
        _check_passes(ply.before, ply.after)
    _check_end(plies[-1].after)


def _check_tile(before: State, after: State) -> None:
    """From the pool to a player or the box, from a player to the box, and nowhere else."""
    assert (before.tile is None) == (after.tile is None)
    if before.tile and after.tile and before.tile != after.tile:
        assert before.tile.character == after.tile.character
        assert before.tile.where != IN_BOX
        assert after.tile.where in (IN_BOX, before.turn)
        assert after.tile.where != IN_POOL


def _check_passes(before: State, after: State) -> None:
    """Seats pass that can neither draw nor take, and only then is a turn passed over."""
    if after.passes and not after.drawn:
        assert sum(after.pool) == 0 or after.tile is not None
        for passed in range(after.turn - after.passes, after.turn):
            assert sum(after.bags[passed % after.players]) < 3
    if after.turns != before.turns:
        assert after.turns == before.turns + 1 + after.passes


def _check_end(end: State) -> None:
    """After a declaration every other player has had one turn more, passes included."""
    if end.ending == "end_declared":
        assert end.turn == end.declared_by
    else:
        assert end.declared_by is None
