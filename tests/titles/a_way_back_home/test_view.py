"""The view says the whole position, in JSON that its schema describes; the text says what the view says."""

import jsonschema
import msgspec
import pytest

from services.core.ruleset import Ruleset
from services.titles.a_way_back_home.moves import Options
from services.titles.a_way_back_home.state import Tile
from services.titles.a_way_back_home.view import View
from tests.titles.a_way_back_home.positions import (
    CHARACTERS,
    SIDE_A,
    TITLE,
    counts,
    filled,
    playout,
    position,
)

SCHEMAS = Ruleset(TITLE).schemas


def validator(kind: str) -> jsonschema.Draft202012Validator:
    schema = {**SCHEMAS[kind], "$defs": SCHEMAS["$defs"]}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("options", [SIDE_A, CHARACTERS[3]])
def test_views_and_moves_fit_their_schemas_and_read_back(options: Options) -> None:
    views, moves = validator("view"), validator("move")
    for n, (_, move, after) in enumerate(playout(options, 3, seed=2)):
        shown = TITLE.view(after, n % 3)
        raw = msgspec.json.encode(shown)
        assert msgspec.json.decode(raw, type=View) == shown
        moves.validate(msgspec.json.decode(msgspec.json.encode(move)))
        if n % 5 == 0:
            views.validate(msgspec.json.decode(raw))


def test_every_struct_of_the_schemas_is_described() -> None:
    assert [name for name, schema in SCHEMAS["$defs"].items() if not schema.get("description")] == []


def test_options_fit_their_schema() -> None:
    options = validator("options")
    options.validate({})
    options.validate({"side": "B", "character": 5, "start": 3})
    assert not options.is_valid({"start": 4})


def test_the_view_of_a_first_position() -> None:
    shown = TITLE.view(position(pool=counts(green=4, blue=2)), 1)
    assert (shown.side, shown.phase, shown.turn, shown.passed, shown.drawn) == ("A", "choose", 0, (), None)
    assert (shown.character, shown.declared_by, shown.ending, shown.take) == (None, None, None, "base")
    assert shown.pool == {
        "green": 4, "pink": 0, "purple": 0, "black": 0, "orange": 0, "blue": 2, "wild": 0,
    }  # fmt: skip
    assert [player.bag_count for player in shown.players] == [None, 9]
    assert [player.turns_taken for player in shown.players] == [0, 0]
    assert shown.layout.paths["pink"] == ("p0", "p1", "R-pink", "p3", "R-purple", "p5", "p6")


@pytest.mark.parametrize(("where", "shown"), [(-1, "pool"), (-2, "box"), (1, "player:1")])
def test_where_the_character_is(where: int, shown: str) -> None:
    character = TITLE.view(position(side="B", tile=Tile(3, where)), None).character
    assert (character.id, character.name, character.building, character.take, character.where) == (
        3, "Porter", "black", "any_five", shown,
    )  # fmt: skip


def test_the_turns_of_the_view_are_counted_by_seat() -> None:
    for before, _, after in playout(SIDE_A, 3, seed=2):
        taken = [player.turns_taken for player in TITLE.view(after, None).players]
        assert sum(taken) == after.turns
        assert taken[before.turn] - TITLE.view(before, None).players[before.turn].turns_taken in (0, 1)


def test_a_position_as_text() -> None:
    state = position(
        filled("B", green=4), side="B", tile=Tile(0, 0), declared_by=1, turns=4, passes=1,
        pool=counts(pink=2, wild=1), drawn="green blue wild",
    )  # fmt: skip
    assert TITLE.render(TITLE.view(state, 0)) == "\n".join(
        [
            "Side B. Seat 0 is to place.",
            "had to pass: seat 1",
            "seat 1 declared the end",
            "Pedlar (green building): player:0",
            "pool: pink 2 wild 1; take: base",
            "drawn: green blue wild",
            "",
            "seat 0: 1 points, 9 in the bag",
            "  green   g g g g . . . .    0",
            "  pink    . . g . . . . .    0",
            "  purple  . . . . . . . .    0",
            "  black   . . . . . . . .    0",
            "  orange  . . . . . . . .    0",
            "  blue    . . . g . . . .    0",
            "",
            "seat 1: 0 points",
            *(f"  {path:<7} . . . . . . . .    0" for path in TITLE.view(state, 0).pool if path != "wild"),
        ]
    )


def test_a_position_after_the_end_as_text() -> None:
    text = TITLE.render(TITLE.view(position(declared_by=0), None))
    assert text.startswith("Side A. Over: end_declared.\nseat 0 declared the end\npool: empty; take: base\n")
