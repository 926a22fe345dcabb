"""What everybody sees."""

import msgspec
import pytest
from jsonschema import Draft202012Validator

from services.core.ruleset import Ruleset
from services.titles.wayfare.rules import settled
from services.titles.wayfare.state import placed
from tests.titles.wayfare.positions import SIZES, TITLE, opening, pieces_of, turns, white


@pytest.mark.parametrize("size", SIZES)
def test_both_seats_and_spectators_see_the_same(size):
    for turn in turns(9, size):
        spectator = TITLE.view(turn.after, None)
        assert TITLE.view(turn.after, 0) == TITLE.view(turn.after, 1) == spectator
        assert TITLE.redact(turn.move, turn.seat, None) == turn.move


@pytest.mark.parametrize("size", SIZES)
def test_a_position_can_be_built_again_from_its_view(size):
    for turn in turns(10, size):
        view = TITLE.view(turn.after, None)
        again = placed(view.size, pieces_of(turn.after), view.turn or 0, view.final_compare)
        assert (again.guides, again.adventurers) == (turn.after.guides, turn.after.adventurers)
        assert (view.turn, view.ply, view.passed) == (turn.after.turn, turn.after.ply, turn.after.passed)


def test_the_view_as_json():
    state = white(6, {(5, -1): "WG", (4, -1): "BG", (0, 1): "WA", (1, 0): "BA", (0, -2): "BA"})
    assert msgspec.to_builtins(TITLE.view(state, None), str_keys=True) == {
        "size": 6,
        "final_compare": "presence",
        "turn": 0,
        "ply": 0,
        "passed": False,
        "sides": (
            {"colour": "white", "guides": [(5, -1)], "adventurers": [(0, 1)]},
            {"colour": "black", "guides": [(4, -1)], "adventurers": [(0, -2), (1, 0)]},
        ),
        "rings": ((0, 0), (1, 1), (0, 1), (0, 0), (0, 0), (0, 0)),
        "deciding_ring": 2,
        "leader": 1,
    }


def test_views_match_a_schema_that_describes_every_field():
    schemas = Ruleset(TITLE).schemas
    view = schemas["$defs"]["View"]
    assert all("description" in field for field in view["properties"].values())
    validator = Draft202012Validator({**schemas["view"], "$defs": schemas["$defs"]})
    for turn in turns(11):
        validator.validate(msgspec.json.decode(msgspec.json.encode(TITLE.view(turn.after, None))))


def test_the_leader_at_the_end_is_the_winner():
    for seed in range(12):
        *_, last = turns(seed, final_compare="count" if seed % 2 else "presence")
        leader = TITLE.view(last.after, None).leader
        assert TITLE.outcome(last.after).winners == ((0, 1) if leader is None else (leader,))


def test_the_text_board_shows_turn_standing_and_every_piece():
    state = settled(white(6, {(3, 0): "WA", (0, 3): "BA", (0, 4): "BG", (0, -5): "WG"}))
    assert TITLE.render(TITLE.view(state, None)).splitlines() == [
        "after 0 moves black is to move; white had no move and passed",
        "no ring decides: level",
        " r=-5      G . . . . .      q=0..5",
        " r=-4     . . . . . . .     q=-1..5",
        " r=-3    . . . . . . . .    q=-2..5",
        " r=-2   . . . . . . . . .   q=-3..5",
        " r=-1  . . . . . . . . . .  q=-4..5",
        "  r=0 . . . . . . . . A . . q=-5..5",
        "  r=1  . . . . . . . . . .  q=-5..4",
        "  r=2   . . . . . . . . .   q=-5..3",
        "  r=3    . . . . . a . .    q=-5..2",
        "  r=4     . . . . . g .     q=-5..1",
        "  r=5      . . . . . .      q=-5..0",
    ]


def test_the_text_board_tells_the_end():
    over = settled(white(6, {(0, 0): "WA"}))
    assert TITLE.render(TITLE.view(over, None)).splitlines()[:2] == [
        "after 0 moves nobody can move",
        "ring 0 decides for white",
    ]


@pytest.mark.parametrize("size", SIZES)
def test_the_text_board_has_a_row_for_every_r(size):
    rows = TITLE.render(TITLE.view(opening(size), None)).splitlines()[2:]
    assert len(rows) == 2 * size - 1
    assert sum(row.count("G") + row.count("g") for row in rows) == len(pieces_of(opening(size)))
