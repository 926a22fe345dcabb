"""Luck for the tests of a title: from a seeded generator, with a note of what was asked for."""

from collections.abc import Sequence
from random import Random
from typing import Any


class Dice:
    """A `Chance`. `asked`: the questions, in order: "shuffle 52", "draw 2 of 40", "below 6"."""

    def __init__(self, seed: int) -> None:
        self.asked: list[str] = []
        self._random = Random(seed)

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        self.asked.append(f"shuffle {len(items)}")
        return self._random.sample(items, len(items))

    def draw(self, bag: Sequence[Any], n: int) -> list[Any]:
        self.asked.append(f"draw {n} of {len(bag)}")
        return self._random.sample(bag, n)

    def below(self, n: int) -> int:
        self.asked.append(f"below {n}")
        return self._random.randrange(n)


class BaglessDice(Dice):
    """For a title that never draws from a bag."""

    def draw(self, bag: Sequence[Any], n: int) -> list[Any]:
        raise AssertionError("nothing is drawn from a bag")
