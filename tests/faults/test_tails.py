"""What is excused as a lost tail, and what is not."""

from services.core.ids import StreamName
from tests.faults.history import Fate, Told
from tests.faults.tails import Cut, is_excused, kept_in, was_there

CUT = Cut(since=10.0, at=12.0)


def told(version: int, answered: float) -> Told:
    stream = StreamName("match/m")
    return Told(0, "http", stream, "p", f"r{version}", answered - 0.1, answered, Fate.OK, version)


def test_what_was_acknowledged_just_before_the_cut_is_excused_and_nothing_older():
    kept = kept_in([CUT], [told(1, 9.0)])
    assert is_excused(told(2, 11.0), kept)
    assert not is_excused(told(2, 9.9), kept)
    assert not is_excused(told(2, 40.0), kept)


def test_a_command_sent_after_the_store_had_died_is_not_excused():
    late = told(2, 12.5)
    late.invoked = 12.1
    assert not is_excused(late, kept_in([CUT], []))


def test_nothing_before_a_version_that_was_kept_is_excused():
    kept = kept_in([CUT], [told(3, 11.5)])
    assert not is_excused(told(2, 11.0), kept)
    assert is_excused(told(4, 11.9), kept)


def test_what_was_stored_after_the_cut_does_not_count_as_kept():
    kept = kept_in([CUT], [told(1, 9.0), told(5, 13.0)])
    assert is_excused(told(2, 11.0), kept)


def test_without_a_cut_nothing_is_excused():
    assert not is_excused(told(2, 11.0), kept_in([], [told(1, 9.0)]))


def test_a_view_of_a_lost_version_is_excused_around_the_cut_only():
    kept = kept_in([CUT], [told(1, 9.0)])
    assert was_there(2, 11.0, kept)
    assert not was_there(2, 9.0, kept)
    assert not was_there(1, 11.0, kept)
