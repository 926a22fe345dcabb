"""What may be taken from the pool, against a plain reading of each action over all amounts."""

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from services.titles.a_way_back_home.moves import TakeName
from services.titles.a_way_back_home.state import IN_BOX, Counts, Tile
from services.titles.a_way_back_home.takes import TAKES
from tests.titles.a_way_back_home.positions import counts, legal, play, pool, position, refused


def whole(pool: Counts, taken: Counts) -> bool:
    return all(n in (0, there) for n, there in zip(taken, pool, strict=True))


def colours(amounts: Counts) -> list[int]:
    return [n for n in amounts if n]


READINGS: dict[TakeName, Callable[[Counts, Counts], bool]] = {
    "base": lambda pool, taken: whole(pool, taken) and len(colours(taken)) == 1,
    "any_two": lambda pool, taken: sum(taken) == 2,
    "one_of_each": lambda pool, taken: colours(taken) == [1] * len(colours(pool)) != [],
    "scarcest": lambda pool, taken: whole(pool, taken) and colours(taken) == [min(colours(pool))],
    "any_five": lambda pool, taken: sum(taken) == 5,
    "two_colours": lambda pool, taken: whole(pool, taken) and len(colours(taken)) == 2,
    "most_frequent": lambda pool, taken: whole(pool, taken) and colours(taken) == [max(colours(pool))],
}
POOLS = [tuple(Random(n).choices([0, 1, 2, 3], [6, 3, 2, 1], k=7)) for n in range(60)]


@pytest.mark.parametrize("name", READINGS)
def test_choices_and_checks_are_those_of_the_plain_reading(name: TakeName) -> None:
    action, reading = TAKES[name], READINGS[name]
    for there in POOLS:
        every = list(product(*(range(n + 1) for n in there)))
        expected = {taken for taken in every if any(taken) and reading(there, taken)}
        choices = action.choices(there)
        assert set(choices) == expected
        assert len(choices) == len(expected)
        assert {taken for taken in every if action.allows(there, taken)} == expected
        assert action.is_doable(there) == bool(expected)


@pytest.mark.parametrize("name", READINGS)
def test_nothing_is_taken_from_an_empty_pool(name: TakeName) -> None:
    assert TAKES[name].choices(counts()) == []
    assert not TAKES[name].is_doable(counts())


@pytest.mark.parametrize(
    ("name", "there", "doable"),
    [
        ("any_two", counts(green=1), False),
        ("any_two", counts(green=1, wild=1), True),
        ("any_five", counts(green=3, pink=1), False),
        ("any_five", counts(green=3, pink=2), True),
        ("two_colours", counts(green=4), False),
        ("two_colours", counts(green=4, wild=1), True),
    ],
)
def test_an_action_that_cannot_be_done_in_full_is_not_doable(
    name: TakeName, there: Counts, doable: bool
) -> None:
    assert TAKES[name].is_doable(there) == doable


def test_most_choices_per_action() -> None:
    plenty = (5,) * 7
    assert len(TAKES["base"].choices(plenty)) == 7
    assert len(TAKES["any_two"].choices(plenty)) == 28


def test_wilds_of_the_pool_are_taken_all_together_and_alone() -> None:
    state = position(pool=counts(wild=2, pink=1))
    assert refused(state, "take w1") == "take-base"
    assert refused(state, "take p1 w2") == "take-base"
    after = play(state, "take w2")
    assert after.bags[0] == counts(blue=9, wild=2)
    assert pool(after) == {"pink": 1}


@pytest.mark.parametrize(
    ("character", "line", "rule"),
    [
        (0, "take g3", "take-any-two"),
        (1, "take g1", "take-one-of-each"),
        (2, "take g3", "take-scarcest"),
        (3, "take g3", "take-any-five"),
        (4, "take g3", "take-two-colours"),
        (5, "take p1", "take-most-frequent"),
        (0, "take o1", "take-from-pool"),
        (0, "take -", "take-any-two"),
    ],
)
def test_a_take_against_the_character_names_its_rule(character: int, line: str, rule: str) -> None:
    state = position(side="B", tile=Tile(character), pool=counts(green=3, pink=1, blue=2))
    assert refused(state, line) == rule


@pytest.mark.parametrize("where", [IN_BOX, 0, 1])
def test_a_character_outside_the_pool_leaves_the_base_take(where: int) -> None:
    state = position(side="B", tile=Tile(0, where), bags=[2], pool=counts(green=3, pink=1))
    assert legal(state) == ["take g3", "take p1"]
