"""Moves as text and as JSON."""

import contextlib

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from services.core.errors import MoveUnreadable
from services.core.ruleset import Ruleset
from services.titles.wayfare.moves import REACH, AdventurerMove, GuideMove, Move, Options
from tests.titles.wayfare.positions import SIZES, TITLE, turns

NUMBERS = st.integers(-REACH, REACH)
POINTS = st.tuples(NUMBERS, NUMBERS)
KINDS = st.sampled_from(("guide", "adventurer"))
MOVES = st.builds(GuideMove, POINTS, POINTS) | st.builds(AdventurerMove, POINTS, POINTS, KINDS)
RULES = Ruleset(TITLE)

unhurried = hypothesis_settings(deadline=None)  # the cores may be busy with other work


@unhurried
@given(MOVES)
def test_every_move_of_the_schema_has_a_text_that_reads_back(move):
    assert TITLE.parse(TITLE.notation(move)) == move


@pytest.mark.parametrize("size", SIZES)
def test_every_legal_move_of_a_game_reads_back_from_its_text_and_its_json(size):
    for turn in turns(7, size):
        moves = TITLE.legal_moves(turn.before, turn.seat)
        texts = {TITLE.notation(move) for move in moves}
        assert len(texts) == len(moves)
        assert [TITLE.parse(TITLE.notation(move)) for move in moves] == moves
        assert [RULES.read_move(RULES.write(move)) for move in moves] == moves


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("G7,-1:5,-1", GuideMove((7, -1), (5, -1))),
        ("AG4,0:3,0", AdventurerMove((4, 0), (3, 0), "guide")),
        ("AA4,0:3,0", AdventurerMove((4, 0), (3, 0), "adventurer")),
    ],
)
def test_the_texts_are_as_documented(text, move):
    assert TITLE.notation(move) == text
    assert TITLE.parse(text) == move


@unhurried
@given(st.text() | MOVES.map(lambda move: TITLE.notation(move) + " "))
@example("")
@example("G")
@example("G7,-1")
@example("g7,-1:5,-1")
@example("A4,0:3,0")
@example("GG4,0:3,0")
@example("G7,-1:5,-1\n")
@example(" G7,-1:5,-1")
@example("G7,-1-5,-1")
@example("G-0,1:5,-1")
@example("G07,-1:5,-1")
@example("G+7,-1:5,-1")
@example("G10,0:5,0")
@example("G\u0667,-1:5,-1")
@example("\ud800" * 100)
def test_any_other_text_is_unreadable(text):
    with pytest.raises(MoveUnreadable):
        TITLE.parse(text)


def test_a_refused_text_is_repeated_only_in_part():
    with pytest.raises(MoveUnreadable) as refused:
        TITLE.parse("x" * 10_000)
    assert len(refused.value.detail) < 200


@pytest.mark.parametrize(
    ("json", "move"),
    [
        (b'{"type":"guide","from":[7,-1],"to":[5,-1]}', GuideMove((7, -1), (5, -1))),
        (
            b'{"type":"adventurer","from":[4,0],"to":[3,0],"ref":"guide"}',
            AdventurerMove((4, 0), (3, 0), "guide"),
        ),
        (
            b'{"type":"adventurer","from":[4,0],"to":[3,0],"ref":"adventurer"}',
            AdventurerMove((4, 0), (3, 0), "adventurer"),
        ),
    ],
)
def test_moves_are_written_as_the_rules_say(json, move):
    assert msgspec.json.encode(move) == json
    assert msgspec.json.decode(json, type=Move) == move


def test_options_are_written_as_the_rules_say():
    json = b'{"size":10,"final_compare":"count"}'
    assert msgspec.json.decode(json, type=Options) == Options(10, "count")
    assert msgspec.json.encode(Options(10, "count")) == json


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
LEAF = JSON | st.integers(-10, 10)
MOVE_LIKE = st.fixed_dictionaries(
    {"type": st.sampled_from(("guide", "adventurer")) | JSON},
    optional={
        "from": st.tuples(LEAF, LEAF) | LEAF,
        "to": st.tuples(LEAF, LEAF) | LEAF,
        "ref": KINDS | LEAF,
    },
)


@unhurried
@given(JSON | MOVE_LIKE)
def test_any_json_is_a_move_of_the_schema_or_unreadable(value):
    with contextlib.suppress(MoveUnreadable):
        move = RULES.read_move(msgspec.json.encode(value))
        assert RULES.read_move(RULES.write(move)) == move


@pytest.mark.parametrize(
    "json",
    [
        b'{"type":"guide","from":[7,-1]}',
        b'{"type":"guide","from":[7,-1],"to":[5,-1,0]}',
        b'{"type":"guide","from":[7,-1],"to":[5,-1.5]}',
        b'{"type":"guide","from":[7,-1],"to":[5,10]}',
        b'{"type":"guide","from":[7,-1],"to":[5,-1],"ref":"guide"}',
        b'{"type":"adventurer","from":[7,-1],"to":[5,-1]}',
        b'{"type":"adventurer","from":[7,-1],"to":[5,-1],"ref":"scout"}',
        b'{"type":"pass"}',
        b'{"from":[7,-1],"to":[5,-1]}',
    ],
)
def test_json_outside_the_schema_is_unreadable(json):
    with pytest.raises(MoveUnreadable):
        RULES.read_move(json)
