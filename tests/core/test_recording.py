import re

import msgspec
import pytest

from cli.recording import recorded
from services.core.errors import BadRequest
from services.core.recording import first_difference, read, written
from tests.toy.titles.high_card import VERSIONS as TOY
from tests.toy.titles.high_card.title import HighCard


@pytest.fixture(scope="module")
def recording():
    return recorded(TOY[1], 3, b'{"rounds":4}', "a seed", 100)


def test_a_recording_reads_back_and_replays_identically(recording):
    again = read(written(recording))
    assert first_difference(again, TOY[1]) is None
    assert len(again.moments) == 13
    assert msgspec.json.decode(again.outcome)["reason"] == "most_points"


class OneMorePoint(HighCard):
    def apply(self, position, seat, move, chance):
        after = super().apply(position, seat, move, chance)
        doubled = tuple(2 * score for score in after.points)
        return msgspec.structs.replace(after, points=doubled)


def test_changed_rules_are_found_at_the_first_version_they_touch(recording):
    difference = first_difference(recording, OneMorePoint())
    assert difference.version == 4
    assert "another one" in difference.what


class Prettier(HighCard):
    def render(self, shown):
        return "*" + super().render(shown)


def test_a_board_that_looks_different_is_found(recording):
    assert "shown differently" in first_difference(recording, Prettier()).what


class NeverOver(HighCard):
    def outcome(self, position):
        return None


def test_a_changed_outcome_is_found(recording):
    assert "outcome" in first_difference(recording, NeverOver()).what


def test_a_changed_move_is_found(recording):
    text = written(recording)
    move = recording.moments[5].move
    difference = first_difference(read(text.replace(f"move {move} ", "move p99 ", 1)), TOY[1])
    assert difference.version == 6


def test_a_damaged_file_names_its_line(recording):
    with pytest.raises(BadRequest, match="line 2"):
        read(written(recording).replace("rules_version: 1", "rules_version = 1"))
    with pytest.raises(BadRequest, match="header"):
        read("title: x\n")


@pytest.mark.parametrize("luck", ["[1,]", '["ann"]'])
def test_unreadable_luck_names_its_line(recording, luck):
    lines = written(recording).splitlines()
    number = next(n for n, line in enumerate(lines, 1) if " move " in line)
    lines[number - 1] = re.sub(r"luck \[.*\]", f"luck {luck}", lines[number - 1])
    with pytest.raises(BadRequest, match=f"line {number}: has unreadable luck"):
        read("\n".join(lines))


def test_a_match_that_takes_longer_is_not_recorded():
    assert recorded(TOY[1], 2, b"{}", "a seed", 3) is None
