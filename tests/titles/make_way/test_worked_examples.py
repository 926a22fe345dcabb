"""The worked examples of the rules, one test each, in their order."""

from services.core.title import Outcome
from services.titles.make_way.components import ROUND
from services.titles.make_way.moves import Discard
from services.titles.make_way.rules import setup
from tests.titles.make_way.positions import (
    TITLE,
    Dice,
    Options,
    advance,
    enter,
    legal,
    played,
    position,
    refusal,
    shift,
    tiles,
)


def scored(red, blue):
    """The outcome of a finished game with these pieces."""
    return TITLE.outcome(position(red, blue, ply=3 * ROUND))


def test_01_the_rulebook_example_has_exactly_three_plays():
    state = position(red=[(2, 1), (3, 2), (3, 4)], blue=[(2, 4)])
    moves = [advance("hammers", (2, 1)), shift("hammers", (3, 2), -1), shift("hammers", (3, 4), -1)]
    assert legal(state, "hammers") == {TITLE.notation(move) for move in moves}
    assert tiles(played(state, moves[0])) == ({(2, 2), (3, 2), (3, 4)}, {(2, 4)})
    assert tiles(played(state, moves[1])) == ({(2, 1), (2, 2), (3, 4)}, {(2, 4)})
    assert tiles(played(state, moves[2])) == ({(2, 1), (3, 2), (2, 4)}, {(1, 4)})


def test_02_a_frontal_push_sends_the_opponent_one_step_back():
    state = position(red=[(2, 3)], blue=[(2, 4)])
    assert tiles(played(state, advance("hammers", (2, 3)))) == ({(2, 4)}, {(2, 5)})
    assert legal(state, "hammers") == {"hammers c3^", "hammers @c1", "hammers @c2"}


def test_03_a_frontal_push_needs_a_free_tile_beyond():
    state = position(red=[(2, 3)], blue=[(2, 4), (2, 5)])
    assert refusal(state, advance("hammers", (2, 3))) == "push-onto-free-tile"


def test_04_an_opponent_on_its_own_start_row_cannot_be_pushed_back():
    state = position(red=[(2, 5)], blue=[(2, 6)])
    assert refusal(state, advance("hammers", (2, 5))) == "push-on-board"
    assert legal(state, "hammers") == {"hammers @c1", "hammers @c4"}


def test_05_an_own_piece_ahead_is_not_pushed():
    state = position(red=[(2, 3), (2, 4)])
    assert refusal(state, advance("hammers", (2, 3))) == "own-piece-not-pushed-ahead"
    assert tiles(played(state, advance("hammers", (2, 4)))) == ({(2, 3), (2, 5)}, set())


def test_06_an_own_piece_is_pushed_sideways_across_the_edge():
    state = position(red=[(1, 3), (0, 3)])
    assert tiles(played(state, shift("drop", (1, 3), -1))) == ({(0, 3), (5, 3)}, set())


def test_07_a_shift_across_the_edge_pushes_if_the_tile_beyond_is_free():
    state = position(red=[(0, 4)], blue=[(5, 4)])
    assert tiles(played(state, shift("arrow", (0, 4), -1))) == ({(5, 4)}, {(4, 4)})
    for red, blue in (([(0, 4), (4, 4)], [(5, 4)]), ([(0, 4)], [(5, 4), (4, 4)])):
        assert refusal(position(red, blue), shift("arrow", (0, 4), -1)) == "push-onto-free-tile"


def test_08_an_entry_pushes_an_opponent_off_the_start_row():
    state = position(blue=[(4, 1)])
    assert tiles(played(state, enter("circles", (4, 1)))) == ({(4, 1)}, {(4, 2)})
    for red, blue in (([(4, 2)], [(4, 1)]), ([], [(4, 1), (4, 2)])):
        assert refusal(position(red, blue), enter("circles", (4, 1))) == "push-onto-free-tile"
    dead = position(blue=[(4, 1), (4, 2)])
    assert legal(dead, "circles") == set()


def test_09_a_reinforcement_enters_behind_an_own_piece_but_pushes_nobody():
    state = position(red=[(4, 5)])
    assert legal(state, "circles") == {"circles @e4", "circles @e1", "circles e5^"}
    assert tiles(played(state, enter("circles", (4, 4)))) == ({(4, 4), (4, 5)}, set())
    blocked = position(red=[(4, 5)], blue=[(4, 4)])
    assert refusal(blocked, enter("circles", (4, 4))) == "push-onto-free-tile"


def test_10_seat_1_plays_towards_rank_1():
    state = position(blue=[(5, 4)], red=[(5, 3)], turn=1)
    assert tiles(played(state, advance("arrow", (5, 4)))) == ({(5, 2)}, {(5, 3)})
    assert legal(state, "arrow") == {"arrow f4^", "arrow @f6", "arrow @f5"}


def test_11_a_piece_on_the_last_row_shifts_but_does_not_advance():
    state = position(red=[(3, 6)])
    assert refusal(state, advance("bricks", (3, 6))) == "advance-on-board"
    assert legal(state, "bricks") == {"bricks @d1", "bricks @d5"}
    assert tiles(played(state, shift("circles", (3, 6), 1))) == ({(4, 6)}, set())


def test_12_a_dead_card_is_discarded_only_if_no_other_card_is_playable():
    pieces = {"red": [(2, 1)], "blue": [(2, 2), (2, 3)]}
    assert legal(position(**pieces), "hammers") == set()
    stuck = position(**pieces, hand="hammers hammers")
    assert legal(stuck) == {"discard hammers"}
    after = played(stuck, Discard("hammers"))
    assert after.boards == stuck.boards
    assert after.turn == 1
    assert refusal(position(**pieces, hand="hammers drop"), Discard("hammers")) == "discard-only-when-stuck"


def test_13_totals_count_back_to_the_nearest_opponent_and_may_be_equal():
    red = [(2, 4), (2, 1), (3, 6), (0, 2)]
    blue = [(2, 2), (3, 3), (4, 6), (0, 1)]
    assert scored(red, blue) == Outcome((0, 1), "equal_totals", (7, 7))
    view = TITLE.view(position(red, blue), None)
    assert {piece.tile: piece.score for piece in view.board} == {
        (2, 4): 2,
        (2, 1): 1,
        (3, 6): 3,
        (0, 2): 1,
        (2, 2): 2,
        (3, 3): 3,
        (4, 6): 1,
        (0, 1): 1,
    }


def test_14_own_pieces_behind_do_not_shorten_a_score():
    red, blue = [(1, 6), (1, 5)], [(1, 2), (1, 1)]
    assert scored(red, blue) == Outcome((0, 1), "equal_totals", (7, 7))
    view = TITLE.view(position(red, blue), None)
    assert [piece.score for piece in view.board] == [3, 4, 4, 3]


def test_15_the_card_names_the_lane_in_which_the_piece_ends():
    state = position(red=[(3, 2)])
    assert refusal(state, shift("wheel", (3, 2), -1)) == "end-in-lane-of-card"


def test_16_an_own_piece_on_the_last_row_is_pushed_sideways():
    state = position(red=[(1, 6), (2, 6)], supply=(0, 6))
    assert legal(state, "wheel") == {"wheel c6<"}
    assert tiles(played(state, shift("wheel", (2, 6), -1))) == ({(0, 6), (1, 6)}, set())


def test_17_no_discard_is_legal_on_the_first_turn():
    state = setup(Options(), Dice(1))
    for move in ("drop", "wheel", "hammers", "bricks", "circles", "arrow"):
        assert refusal(state, Discard(move)) in ("discard-only-when-stuck", "card-in-hand")
    held = next(iter(TITLE.legal_moves(state, state.turn))).card
    assert refusal(state, Discard(held)) == "discard-only-when-stuck"
