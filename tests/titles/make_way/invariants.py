"""The invariants of Make Way! for the long run: those of test_invariants, which take any list of turns."""

from collections.abc import Sequence
from random import Random

from tests.titles.found import Ply
from tests.titles.make_way import test_invariants as told

AT_EVERY_TURN = (
    told.test_supply_and_pieces_are_nine_and_pieces_never_leave,
    told.test_a_tile_holds_one_piece_at_most,
    told.test_each_symbol_has_nine_cards_in_deck_hands_and_spent,
    told.test_hands_differ_by_one_card_at_most_and_account_for_the_turns_of_the_round,
    told.test_every_piece_scores_from_1_to_its_own_rank,
    told.test_an_accepted_discard_means_that_nothing_could_be_played,
)
SAMPLED = (
    told.test_a_play_changes_one_supply_or_steps_one_piece_and_pushes_one_more_at_most,
    told.test_only_advances_and_pushes_from_the_front_change_ranks,
    told.test_the_target_holds_a_piece_of_the_mover_in_the_lane_of_the_card,
)


def check(plies: Sequence[Ply], rng: Random) -> None:
    """Fails unless all of a match keeps to the rules."""
    for invariant in AT_EVERY_TURN:
        invariant(plies)
    for invariant in SAMPLED:
        invariant(plies[rng.randrange(4) :: 4])
    assert len(plies) == 18 * plies[0].before.rounds
