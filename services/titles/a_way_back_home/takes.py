"""Taking from the pool: the base action, and what each character makes of it. A wild is a seventh colour."""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

from services.titles.a_way_back_home.components import CHARACTERS
from services.titles.a_way_back_home.moves import TakeName
from services.titles.a_way_back_home.state import IN_POOL, Counts, State, plus


class TakeAction(NamedTuple):
    """What may be taken. `choices`: all legal takes from a pool, in a fixed order. `exactly`: where any
    mix will do, its size, so that nobody looks through hundreds of mixes for what counting answers.
    """

    rule: str
    choices: Callable[[Counts], list[Counts]]
    exactly: int = 0

    def is_doable(self, pool: Counts) -> bool:
        return sum(pool) >= self.exactly if self.exactly else bool(self.choices(pool))

    def allows(self, pool: Counts, taken: Counts) -> bool:
        """`taken` must lie in the pool."""
        return sum(taken) == self.exactly if self.exactly else taken in self.choices(pool)


def in_force(state: State) -> TakeName:
    """The take action of this turn."""
    tile = state.tile
    return CHARACTERS[tile.character].take if tile and tile.where == IN_POOL else "base"


def _a_colour(pool: Counts) -> list[Counts]:
    return [_all_of(pool, colour) for colour in range(7) if pool[colour]]


def _scarcest(pool: Counts) -> list[Counts]:
    fewest = min(filter(None, pool), default=0)
    return [take for take in _a_colour(pool) if sum(take) == fewest]


def _most_frequent(pool: Counts) -> list[Counts]:
    most = max(pool)
    return [take for take in _a_colour(pool) if sum(take) == most]


def _one_of_each(pool: Counts) -> list[Counts]:
    return [tuple(min(count, 1) for count in pool)] if any(pool) else []


def _two_colours(pool: Counts) -> list[Counts]:
    return [plus(one, other) for one, other in combinations(_a_colour(pool), 2)]


def _mixes(size: int) -> Callable[[Counts], list[Counts]]:
    """All ways to take `size` crystals, colour by colour, most of the first colour first."""

    def choices(pool: Counts) -> list[Counts]:
        begun: list[tuple[Counts, int]] = [((), size)]
        for colour, count in enumerate(pool):
            behind = sum(pool[colour + 1 :])
            begun = [
                ((*taken, n), missing - n)
                for taken, missing in begun
                for n in range(min(count, missing), max(missing - behind, 0) - 1, -1)
            ]
        return [taken for taken, _ in begun]

    return choices


def _all_of(pool: Counts, colour: int) -> Counts:
    return (*(0,) * colour, pool[colour], *(0,) * (6 - colour))


TAKES: dict[TakeName, TakeAction] = {
    "base": TakeAction("take-base", _a_colour),
    "any_two": TakeAction("take-any-two", _mixes(2), exactly=2),
    "one_of_each": TakeAction("take-one-of-each", _one_of_each),
    "scarcest": TakeAction("take-scarcest", _scarcest),
    "any_five": TakeAction("take-any-five", _mixes(5), exactly=5),
    "two_colours": TakeAction("take-two-colours", _two_colours),
    "most_frequent": TakeAction("take-most-frequent", _most_frequent),
}
