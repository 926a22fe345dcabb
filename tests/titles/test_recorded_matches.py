"""Every recorded match replays identically: what the rules do changes on purpose or not at all."""

import re
from pathlib import Path

import pytest

from cli.recording import print_recording, shadow_recordings
from services.core.recording import first_difference, read, written
from services.core.ruleset import Ruleset
from tests.titles.found import SLUGS, title_of
from tests.titles.long_run.settings import option_values

SEEDS = Path(__file__).resolve().parents[2] / "seeds"
FILES = {slug: sorted((SEEDS / slug / "matches").glob("*.txt")) for slug in SLUGS}
EVERY_FILE = [file for slug in SLUGS for file in FILES[slug]]

BYTES_MAX = 250_000  # of one file: a reader has to get through a diff of it
ALL_BYTES_MAX = 4_000_000

each_title = pytest.mark.parametrize("slug", SLUGS)
each_file = pytest.mark.parametrize("file", EVERY_FILE, ids=lambda file: f"{file.parts[-3]}/{file.stem}")


def name_of(file):
    return f"{file.parts[-3]}/{file.name}"


@each_file
def test_a_recorded_match_is_played_and_shown_as_it_was(file):
    recording = read(file.read_text())
    assert recording.title == file.parts[-3]
    assert first_difference(recording, title_of(recording.title)) is None


@each_file
def test_a_recorded_match_is_whole(file):
    recording = read(file.read_text())
    assert [moment.version for moment in recording.moments] == list(range(1, len(recording.moments) + 1))
    assert len(recording.moments) > 5
    assert recording.outcome != b"null"


@each_file
def test_a_recording_is_written_as_it_is_read(file):
    text = file.read_text()
    assert written(read(text)) == text


@each_title
def test_every_title_has_recorded_matches_at_every_number_of_seats(slug):
    recordings = [read(file.read_text()) for file in FILES[slug]]
    assert {recording.seats for recording in recordings} == set(title_of(slug).seats)


@each_title
def test_every_value_of_every_option_is_in_a_recorded_match(slug):
    title = title_of(slug)
    recordings = [read(file.read_text()) for file in FILES[slug]]
    played = [Ruleset(title).read_options(each.options, each.seats) for each in recordings]
    for option, values in option_values(title).items():
        assert {getattr(options, option) for options in played} >= set(values), option


def test_recordings_stay_small():
    sizes = {name_of(file): file.stat().st_size for file in EVERY_FILE}
    assert {name: size for name, size in sizes.items() if size > BYTES_MAX} == {}
    assert sum(sizes.values()) < ALL_BYTES_MAX


def test_shadow_reports_recordings_that_are_identical_by_name(capsys):
    assert shadow_recordings(SLUGS) == 0
    reported = capsys.readouterr().out.splitlines()
    assert reported == [f"{name_of(file)}: identical" for file in EVERY_FILE]


def test_a_match_is_recorded_that_shows_what_was_asked_for(capsys):
    wanted = ["had no move and passed", r"^version 40 seat 1 move A"]
    assert (
        print_recording("wayfare", seats=2, options='{"size":6}', seed=5, plies_max=60, showing=wanted) == 0
    )
    text = capsys.readouterr().out
    assert all(re.search(each, text, re.MULTILINE) for each in wanted)
    assert first_difference(read(text), title_of("wayfare")) is None


def test_no_recording_is_made_of_what_never_happens_or_cannot_be_meant(capsys):
    never = {"seats": 2, "options": "{}", "seed": 1, "plies_max": 60}
    assert print_recording("make_way", **never, showing=["version 56"], tries_max=5) == 1
    assert "none of 5 random matches" in capsys.readouterr().out
    assert print_recording("make_way", **never, showing=["("]) == 1
    assert "missing )" in capsys.readouterr().out
