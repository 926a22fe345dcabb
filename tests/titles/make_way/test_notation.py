"""Moves as text and as JSON."""

import contextlib

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.core.errors import MoveUnreadable
from services.core.ruleset import Ruleset
from services.titles.make_way.moves import Discard, Move
from services.titles.make_way.notation import every_move
from tests.titles.make_way.positions import TITLE, advance, enter, shift

EVERY_MOVE = list(every_move())


def test_all_870_moves_of_the_schema_have_a_text_of_their_own_that_reads_back():
    texts = {TITLE.notation(move) for move in EVERY_MOVE}
    assert len(texts) == len(EVERY_MOVE) == 870
    for move in EVERY_MOVE:
        assert TITLE.parse(TITLE.notation(move)) == move


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("hammers c3^", advance("hammers", (2, 3))),
        ("hammers d2<", shift("hammers", (3, 2), -1)),
        ("hammers b2>", shift("hammers", (1, 2), 1)),
        ("hammers @c1", enter("hammers", (2, 1))),
        ("discard hammers", Discard("hammers")),
    ],
)
def test_the_texts_are_as_documented(text, move):
    assert TITLE.notation(move) == text
    assert TITLE.parse(text) == move


@given(st.text() | st.sampled_from(EVERY_MOVE).map(lambda move: TITLE.notation(move) + " "))
@example("")
@example("hammers")
@example("hammers g3^")
@example("hammers c7^")
@example("Hammers c3^")
@example("hammers  c3^")
@example("hammers c3^\n")
@example("\ud800" * 100)
def test_any_other_text_is_unreadable(text):
    with pytest.raises(MoveUnreadable):
        TITLE.parse(text)


@pytest.mark.parametrize(
    ("json", "move"),
    [
        (
            b'{"type":"play","card":"hammers","move":{"kind":"shift","from":[3,4],"dir":-1}}',
            shift("hammers", (3, 4), -1),
        ),
        (b'{"type":"play","card":"drop","move":{"kind":"advance","from":[0,1]}}', advance("drop", (0, 1))),
        (b'{"type":"play","card":"arrow","move":{"kind":"enter","to":[5,6]}}', enter("arrow", (5, 6))),
        (b'{"type":"discard","card":"wheel"}', Discard("wheel")),
    ],
)
def test_moves_are_written_as_the_rules_say(json, move):
    assert msgspec.json.encode(move) == json
    assert msgspec.json.decode(json, type=Move) == move


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
LEAF = JSON | st.integers(-2, 8) | st.sampled_from(["drop", "wheel", "shift", "advance", "enter"])
MOVE_LIKE = st.fixed_dictionaries(
    {"type": st.sampled_from(["play", "discard"]) | JSON, "card": LEAF},
    optional={
        "move": st.fixed_dictionaries(
            {"kind": LEAF},
            optional={"from": st.tuples(LEAF, LEAF) | LEAF, "to": st.tuples(LEAF, LEAF) | LEAF, "dir": LEAF},
        )
    },
)


@given(JSON | MOVE_LIKE)
def test_any_json_is_a_move_of_the_schema_or_unreadable(value):
    rules = Ruleset(TITLE)
    with contextlib.suppress(MoveUnreadable):
        assert rules.read_move(msgspec.json.encode(value)) in EVERY_MOVE


@pytest.mark.parametrize(
    "json",
    [
        b'{"type":"play","card":"drop","move":{"kind":"enter","to":[0,0]}}',
        b'{"type":"play","card":"drop","move":{"kind":"enter","to":[6,1]}}',
        b'{"type":"play","card":"drop","move":{"kind":"enter","to":[0,1,1]}}',
        b'{"type":"play","card":"drop","move":{"kind":"shift","from":[0,1],"dir":0}}',
        b'{"type":"play","card":"spade","move":{"kind":"enter","to":[0,1]}}',
        b'{"type":"play","card":"drop","move":{"kind":"enter","to":[0,1]},"seat":1}',
        b'{"type":"discard"}',
    ],
)
def test_json_outside_the_schema_is_unreadable(json):
    with pytest.raises(MoveUnreadable):
        Ruleset(TITLE).read_move(json)
