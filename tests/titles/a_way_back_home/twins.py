"""Two positions that one viewer cannot tell apart: what is in the bags, and how much in those of others."""

from random import Random

from msgspec.structs import replace

from services.titles.a_way_back_home.state import Counts, State, counted

HIDES = True

SECRETS = {
    "what is in the bags": lambda state: [[count > 1 for count in bag] for bag in state.bags],
    "how much is in the bags": lambda state: [sum(bag) for bag in state.bags],
}


def known(state: State, viewer: int | None) -> State:
    """`state` with nothing of a bag but the number of crystals in the viewer's own."""
    sizes = tuple(sum(bag) if seat == viewer else None for seat, bag in enumerate(state.bags))
    return replace(state, bags=sizes)


def twin(state: State, viewer: int | None, rng: Random) -> State:
    """Every bag filled anew, those of others to another size.

    Whoever counts along could tell how many crystals are in a bag. No answer may tell it all the same, so
    sizes change here even where that leaves too many or too few crystals in the game.
    """
    bags = (
        _filled(sum(bag) if seat == viewer else rng.randrange(33), rng) for seat, bag in enumerate(state.bags)
    )
    return replace(state, bags=tuple(bags))


def _filled(size: int, rng: Random) -> Counts:
    return counted([rng.randrange(7) for _ in range(size)])
