"""The long run in small: every title holds, and what does not hold is found and can be played again."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.titles.found import SLUGS, title_of
from tests.titles.long_run.__main__ import Batch, run
from tests.titles.long_run.playing import played, setting_of
from tests.titles.long_run.settings import every_setting
from tests.titles.own_modules import own_module

ROOT = Path(__file__).resolve().parents[2]

each_title = pytest.mark.parametrize("slug", SLUGS)


@each_title
def test_some_matches_of_every_title_keep_to_all_invariants(slug):
    figures = run(Batch(slug, 7, range(20)))
    assert figures.faults == ()
    assert figures.matches == 20
    assert figures.longest < figures.plies <= 20 * figures.longest


@each_title
def test_every_number_of_seats_and_every_value_of_an_option_is_played(slug):
    settings = every_setting(slug)
    assert {setting.seats for setting in settings} == set(title_of(slug).seats)
    assert [setting_of(slug, number) for number in range(len(settings))] == settings
    assert len(set(settings)) == len(settings)


def test_options_that_go_with_others_only_are_played_too():
    chosen = {setting.options for setting in every_setting("a_way_back_home")}
    assert all(
        any(b'"side":"B","character":%d' % number in options for options in chosen) for number in range(6)
    )


@each_title
def test_a_position_that_does_not_follow_is_noticed(slug):
    """One position of a match comes from the middle of another match of the same setting."""
    again = len(every_setting(slug))
    match, other = played(slug, 3, 0), played(slug, 3, again)
    assert match.setting == other.setting
    middle = len(match.plies) // 2
    strange = match.plies[middle]._replace(after=other.plies[len(other.plies) // 2].before)
    plies = [*match.plies[:middle], strange, *match.plies[middle + 1 :]]
    invariants = own_module(slug, "invariants")
    invariants.check(match.plies, Random(1))
    with pytest.raises(AssertionError):
        invariants.check(plies, Random(1))


def test_a_match_that_fails_says_how_to_play_it_again(monkeypatch):
    monkeypatch.setattr(type(title_of("make_way")), "outcome", lambda self, state: None)
    figures = run(Batch("make_way", 5, range(12, 14)))
    assert len(figures.faults) == 2
    assert "AssertionError" in figures.faults[0]
    assert "python -m tests.titles.long_run --title make_way --seed 5 --only 12" in figures.faults[0]


def test_a_match_that_does_not_end_is_a_fault(monkeypatch):
    monkeypatch.setattr("tests.titles.long_run.playing.PLIES_MAX", 30)
    (fault,) = run(Batch("make_way", 5, range(1))).faults
    assert "does not end" in fault


def test_the_command_plays_one_match_and_prints_its_figures():
    done = subprocess.run(
        [sys.executable, "-m", "tests.titles.long_run", "--title", "make_way", "--seed", "3", "--only", "11"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "5"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plies = len(played("make_way", 3, 11).plies)
    assert f"make_way: 1 matches, {plies} plies" in done.stdout
    assert f"longest {plies}, 0 failed" in done.stdout
