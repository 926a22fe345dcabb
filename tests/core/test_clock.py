import pytest

from services.core.clock import Fischer, PerTurn, checked, credited, elapsed, first_to_fall, wound_up
from services.core.errors import BadRequest

FISCHER = Fischer(initial_ms=60_000, increment_ms=2_000)
PER_TURN = PerTurn(turn_ms=30_000)


def test_every_seat_starts_with_the_same_time():
    assert wound_up(FISCHER, 3) == (60_000, 60_000, 60_000)
    assert wound_up(PER_TURN, 2) == (30_000, 30_000)
    assert wound_up(None, 2) == ()


def test_only_the_seat_to_act_loses_time_and_never_below_zero():
    assert elapsed((10_000, 10_000), frozenset({1}), 4_000) == (10_000, 6_000)
    assert elapsed((10_000, 10_000), frozenset({0}), 99_000) == (0, 10_000)
    assert elapsed((), frozenset({0}), 5) == ()


def test_a_finished_turn_adds_the_increment_or_winds_the_turn_up_again():
    assert credited(FISCHER, (1_000, 5), 0) == (3_000, 5)
    assert credited(PER_TURN, (1_000, 5), 1) == (1_000, 30_000)
    assert credited(None, (), 0) == ()


def test_the_next_flag_is_that_of_the_seat_with_least_time_among_those_to_act():
    assert first_to_fall((9, 3, 5), frozenset({0, 2}), 100) == (2, 105)
    assert first_to_fall((9, 3), frozenset(), 100) is None
    assert first_to_fall((), frozenset({0}), 100) is None


def test_an_increment_larger_than_the_allowance_is_refused():
    with pytest.raises(BadRequest, match="increment_ms"):
        checked(Fischer(initial_ms=1_000, increment_ms=2_000))
