"""The invariants of High Card for the long run."""

from collections.abc import Sequence
from random import Random

from tests.titles.found import Ply


def check(plies: Sequence[Ply], rng: Random) -> None:
    """Fails unless every card is used once, hands are two, and each round gives a point."""
    for ply in plies:
        after = ply.after
        held = [card for hand in after.hands for card in hand]
        cards = [*held, *after.deck, *after.shown]
        assert len(set(cards)) == len(cards)
        assert len(held) == 2 * len(after.hands)
        assert len(after.deck) == len(ply.before.deck) - 1
        assert sum(after.points) == after.round - 1
