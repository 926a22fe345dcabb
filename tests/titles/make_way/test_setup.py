"""Set-up, deals, the order of luck, and the length of a game."""

from itertools import pairwise

import pytest

from services.core.chance import Recorded
from services.core.title import Outcome
from services.titles.make_way.components import DECK, HAND, ROUND
from services.titles.make_way.state import NO_CARDS, counted
from tests.titles.make_way.positions import EVERY_OPTION, TITLE, Dice, Options, position, turns

IN_ORDER = list(range(54))


def test_nine_pieces_and_nine_cards_each_and_36_cards_left():
    state = TITLE.setup(Options(), 2, Dice(1))
    assert state.boards == (0, 0)
    assert state.supply == (9, 9)
    assert [sum(hand) for hand in state.hands] == [9, 9]
    assert len(state.deck) == 36
    assert state.lanes == (0, 1, 2, 3, 4, 5)


def test_the_front_of_the_shuffle_is_dealt_first_to_seat_0_then_to_seat_1():
    shuffled = IN_ORDER[::-1]
    state = TITLE.setup(Options(start=1), 2, Recorded([shuffled]))
    cards = [DECK[index] for index in shuffled]
    assert state.hands == (counted(cards[:9]), counted(cards[9:18]))
    assert state.deck == tuple(cards[18:])


def test_luck_is_asked_for_lanes_then_deck_then_the_starting_seat():
    lanes = [3, 1, 4, 0, 5, 2]
    state = TITLE.setup(Options(lane_order="shuffled"), 2, Recorded([lanes, IN_ORDER, 1]))
    assert state.lanes == tuple(lanes)
    assert state.turn == 1


@pytest.mark.parametrize("start", [0, 1])
def test_a_chosen_start_costs_no_luck(start):
    dice = Dice(1)
    assert TITLE.setup(Options(start=start), 2, dice).turn == start
    assert dice.asked == ["shuffle 54"]


@pytest.mark.parametrize(("rounds", "length"), [(3, 54), (4, 72)])
def test_a_game_lasts_exactly_as_many_turns_as_cards_are_dealt(rounds, length):
    for seed in range(20):
        game = list(turns(seed, Options(rounds=rounds)))
        assert len(game) == length
        assert all(first.seat != second.seat for first, second in pairwise(game))
        assert TITLE.to_act(game[-1].after) == frozenset()


@pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
def test_a_round_is_dealt_from_the_top_of_the_deck_when_both_hands_are_empty(options):
    for turn in turns(7, options):
        before, after = turn.before, turn.after
        if after.ply % ROUND:
            assert after.deck == before.deck
        elif after.is_over:
            assert after.hands == (NO_CARDS, NO_CARDS)
        elif not (options.rounds == 4 and after.ply == 2 * ROUND):
            assert after.hands == (counted(before.deck[:HAND]), counted(before.deck[HAND:ROUND]))
            assert after.deck == before.deck[ROUND:]


def test_all_54_cards_are_shuffled_before_round_3_of_the_longer_game_alone():
    for rounds, asked in ((3, ["shuffle 54", "below 2"]), (4, ["shuffle 54", "below 2", "shuffle 54"])):
        dice = Dice(3)
        state = TITLE.setup(Options(rounds=rounds), 2, dice)
        while not state.is_over:
            shuffles = len(dice.asked)
            state = TITLE.apply(state, state.turn, TITLE.legal_moves(state, state.turn)[0], dice)
            assert len(dice.asked) == shuffles or (state.ply, state.spent) == (36, (NO_CARDS, NO_CARDS))
        assert dice.asked == asked


def test_the_reshuffle_deals_from_its_front():
    state = next(turn.before for turn in turns(4, Options(rounds=4)) if turn.after.ply == 36)
    move = TITLE.legal_moves(state, state.turn)[0]
    after = TITLE.apply(state, state.turn, move, Recorded([IN_ORDER]))
    assert after.hands == (counted(DECK[:9]), counted(DECK[9:18]))
    assert after.deck == DECK[18:]


def test_the_higher_total_wins():
    over = {"ply": 3 * ROUND}
    assert TITLE.outcome(position(red=[(0, 3)], blue=[(1, 6)], **over)) == Outcome(
        (0,), "higher_total", (3, 1)
    )
    assert TITLE.outcome(position(red=[(0, 3)], blue=[(1, 1)], **over)) == Outcome(
        (1,), "higher_total", (3, 6)
    )


def test_there_is_no_outcome_before_the_last_card():
    for turn in turns(5):
        assert TITLE.outcome(turn.before) is None
    assert TITLE.outcome(turn.after) is not None
