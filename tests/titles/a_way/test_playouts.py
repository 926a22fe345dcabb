"""Whole matches: that they end, how long they take, and that the luck they ask for is the rules' luck."""

import pytest

from services.titles.a_way.moves import Options
from services.titles.a_way.state import LAST_ROUND, State
from tests.titles.a_way.positions import TITLE, Dice, playout, racing


def raced(seats: int, seed: int) -> State:
    """The end of a match of ships that fly twice every turn."""
    luck = Dice(seed)
    state = TITLE.setup(Options(), seats, luck)
    while TITLE.to_act(state):
        state = TITLE.apply(state, state.turn, racing(state), luck)
    return state


@pytest.mark.parametrize(("seats", "fewest", "most"), [(2, 5, 7), (4, 4, 6)])
def test_racers_need_the_measured_rounds(seats: int, fewest: int, most: int) -> None:
    for seed in range(60):
        end = raced(seats, seed)
        assert fewest <= end.round <= most
        assert TITLE.outcome(end).reason == "arrival"


def test_of_two_racers_the_second_seat_wins_most_matches() -> None:
    ends = [raced(2, seed) for seed in range(100)]
    second = sum(end.arrivals[-1] != end.start for end in ends)
    assert 80 <= second <= 98
    assert sum(len(end.arrivals) == 2 for end in ends) >= 55


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_random_matches_end_by_an_arrival_or_after_the_last_round(seats: int) -> None:
    for seed in range(4):
        *_, (_, _, end) = playout(seats, seed)
        outcome = TITLE.outcome(end)
        assert 1 <= end.round <= LAST_ROUND
        if end.arrivals:
            assert (outcome.winners, outcome.reason) == ((end.arrivals[-1],), "arrival")
        else:
            assert (end.round, outcome.reason) == (LAST_ROUND, "nearest_home")


def test_players_who_only_discard_are_stopped_after_two_hundred_rounds() -> None:
    luck = Dice(4)
    state = TITLE.setup(Options(), 2, luck)
    turns = 0
    while TITLE.to_act(state):
        held = [
            move
            for move in TITLE.legal_moves(state, state.turn)
            if TITLE.notation(move).startswith("discard")
        ]
        state = TITLE.apply(state, state.turn, held[0] if held else TITLE.parse("skip"), luck)
        turns += bool(held)
    assert (turns, state.round) == (2 * LAST_ROUND, LAST_ROUND)
    assert TITLE.outcome(state).reason == "nearest_home"
    assert TITLE.outcome(state).winners == (0, 1)


def test_luck_in_play_is_asked_for_renewed_piles_only() -> None:
    luck = Dice(5)
    plies = list(playout(2, seed=5, luck=luck))
    renewed = sum(notice.kind == "pile_renewed" for _, _, after in plies for notice in after.notices)
    assert renewed > 0
    assert luck.asked[:3] == ["shuffle 9", "shuffle 48", "below 2"]
    assert len(luck.asked) == 3 + renewed
    assert all(question.startswith("shuffle") for question in luck.asked[3:])
