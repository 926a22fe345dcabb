"""What holds at every turn of random games, under all options."""

import pytest

from services.titles.make_way.components import CARD_OF, LANES, RANKS, TILES, board
from services.titles.make_way.moves import Advance, Discard, Enter, Shift
from services.titles.make_way.plays import plays
from services.titles.make_way.scoring import totals
from services.titles.make_way.state import counted
from tests.titles.make_way import plain_rules
from tests.titles.make_way.positions import EVERY_OPTION, TITLE, tiles, turns


@pytest.fixture(scope="module")
def all_turns():
    """Five games of each option set."""
    return [turn for options in EVERY_OPTION for seed in range(5) for turn in turns(seed, options)]


def own_rank(seat, rank):
    return rank if seat == 0 else 7 - rank


def target_of(turn):
    step = turn.move.move
    match step:
        case Advance((lane, rank)):
            return lane, rank + 1 - 2 * turn.seat
        case Shift((lane, rank), direction):
            return (lane + direction) % LANES, rank
        case Enter(to):
            return to


def test_supply_and_pieces_are_nine_and_pieces_never_leave(all_turns):
    for turn in all_turns:
        for seat in (0, 1):
            pieces = turn.after.boards[seat].bit_count()
            assert turn.after.supply[seat] + pieces == 9
            assert pieces >= turn.before.boards[seat].bit_count()


def test_a_tile_holds_one_piece_at_most(all_turns):
    for turn in all_turns:
        red, blue = turn.after.boards
        assert red & blue == 0
        assert (red | blue) < 1 << len(TILES)


def test_each_symbol_has_nine_cards_in_deck_hands_and_spent(all_turns):
    for turn in all_turns:
        state = turn.after
        piles = (counted(state.deck), *state.hands, *state.spent)
        assert [sum(column) for column in zip(*piles, strict=True)] == [9] * 6


def test_hands_differ_by_one_card_at_most_and_account_for_the_turns_of_the_round(all_turns):
    for turn in all_turns:
        sizes = [sum(hand) for hand in turn.before.hands]
        assert abs(sizes[0] - sizes[1]) <= 1
        assert 18 - sum(sizes) == turn.before.ply % 18


def test_a_play_changes_one_supply_or_steps_one_piece_and_pushes_one_more_at_most(all_turns):
    for turn in all_turns:
        if isinstance(turn.move, Discard):
            assert turn.after.boards == turn.before.boards
            assert turn.after.supply == turn.before.supply
            continue
        gone = [old - new for old, new in zip(tiles(turn.before), tiles(turn.after), strict=True)]
        come = [new - old for old, new in zip(tiles(turn.before), tiles(turn.after), strict=True)]
        entered = turn.before.supply[turn.seat] - turn.after.supply[turn.seat]
        assert entered == isinstance(turn.move.move, Enter)
        assert turn.after.supply[1 - turn.seat] == turn.before.supply[1 - turn.seat]
        assert len(come[turn.seat]) == len(gone[turn.seat]) + entered
        assert len(come[1 - turn.seat]) == len(gone[1 - turn.seat]) <= 1
        # An own piece pushed sideways leaves its tile to the mover, so one tile is left and one is new.
        assert len(gone[turn.seat]) == 1 - entered


def test_only_advances_and_pushes_from_the_front_change_ranks(all_turns):
    for turn in all_turns:
        before, after = tiles(turn.before), tiles(turn.after)
        mover, opponent = turn.seat, 1 - turn.seat
        kind = type(getattr(turn.move, "move", None))
        ranks = [
            sum(own_rank(seat, rank) for _, rank in after[seat])
            - sum(own_rank(seat, rank) for _, rank in before[seat])
            for seat in (0, 1)
        ]
        pushed = before[opponent] != after[opponent]
        if kind is Advance:
            assert ranks[mover] == 1
            assert ranks[opponent] == -pushed
        elif kind is Enter:
            assert ranks[opponent] == -pushed
        else:
            assert ranks == [0, 0]


def test_the_target_holds_a_piece_of_the_mover_in_the_lane_of_the_card(all_turns):
    for turn in all_turns:
        if isinstance(turn.move, Discard):
            continue
        target = target_of(turn)
        assert target in tiles(turn.after)[turn.seat]
        assert turn.after.lanes[target[0]] == CARD_OF[turn.move.card]


def test_every_piece_scores_from_1_to_its_own_rank(all_turns):
    for turn in all_turns[::5]:
        view = TITLE.view(turn.after, None)
        for piece in view.board:
            assert 1 <= piece.score <= own_rank(piece.seat, piece.tile[1])
        assert view.scores == (plain_rules.score(turn.after, 0), plain_rules.score(turn.after, 1))
        assert max(view.scores) <= 51


def test_a_total_of_51_is_reached_with_six_pieces_on_the_last_row_and_three_behind():
    best = [(lane, RANKS) for lane in range(LANES)] + [(lane, RANKS - 1) for lane in range(3)]
    mirrored = [(lane, 7 - rank) for lane, rank in best]
    assert totals((board(best), 0)) == (51, 0)
    assert totals((0, board(mirrored))) == (0, 51)


def test_an_accepted_discard_means_that_nothing_could_be_played(all_turns):
    for turn in all_turns:
        assert isinstance(turn.move, Discard) == (plays(turn.before, turn.seat) == [])


def test_random_games_look_as_measured():
    games = [list(turns(seed)) for seed in range(150)]
    branching = [len(TITLE.legal_moves(turn.before, turn.seat)) for game in games for turn in game]
    scores = [score for game in games for score in TITLE.outcome(game[-1].after).scores]
    assert 7.5 < sum(branching) / len(branching) < 8.3
    assert max(branching) <= 32
    assert 14 < sum(scores) / len(scores) < 16
    assert min(scores) >= 5
    assert max(scores) <= 28
