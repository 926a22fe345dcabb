"""Random matches against the figures measured for the rules: length, scores, ends, choices."""

from math import ceil
from statistics import mean

import pytest

from services.titles.a_way_back_home.moves import Options
from services.titles.a_way_back_home.state import State
from tests.titles.a_way_back_home.positions import CHARACTERS, SIDE_A, TITLE, last, playout


def ends(options: Options, seats: int, matches: int) -> list[State]:
    return [last(options, seats, seed) for seed in range(matches)]


def rounds(states: list[State]) -> list[int]:
    return [ceil(state.turns / state.players) for state in states]


# Means over 500 matches per row, measured by another program with random players much like these.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("seats", "rounds_mean", "score_mean"), [(2, 28.7, 69), (3, 25.9, 50), (4, 23.9, 37)]
)
def test_side_a_matches_are_as_long_and_as_high_as_measured(
    seats: int, rounds_mean: float, score_mean: float
) -> None:
    states = ends(SIDE_A, seats, 250)
    assert mean(rounds(states)) == pytest.approx(rounds_mean, abs=1.5)
    assert 11 <= min(rounds(states)) <= max(rounds(states)) < 60
    scored = [score for state in states for score in TITLE.outcome(state).scores]
    assert mean(scored) == pytest.approx(score_mean, abs=7)


@pytest.mark.slow
@pytest.mark.parametrize("options", CHARACTERS)
def test_side_b_matches_are_about_as_long_as_measured(options: Options) -> None:
    states = ends(options, 3, 30)
    assert 18 < mean(rounds(states)) < 30
    scored = [score for state in states for score in TITLE.outcome(state).scores]
    assert 10 < mean(scored) < 45


def test_choices_stay_within_their_bounds() -> None:
    """Placements at most 55, twice that with declarations; takes 7, with the Pedlar 28, and a draw."""
    for options, takes in ((SIDE_A, 7), (CHARACTERS[0], 28)):
        for state, _, _ in playout(options, 4, seed=9):
            choices = sum(1 for _ in TITLE.legal_moves(state, state.turn))
            assert choices <= (110 if state.drawn else takes + 1)


def test_the_winner_has_the_highest_score_and_there_is_one() -> None:
    for seats in (2, 3, 4):
        for seed in range(10):
            outcome = TITLE.outcome(last(SIDE_A, seats, seed))
            (winner,) = outcome.winners
            assert outcome.scores[winner] == max(outcome.scores)
            assert outcome.reason in ("end_declared", "all_blocked")
