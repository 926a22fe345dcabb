"""Who is nearest the centre: adventurers compared ring by ring, from the centre outwards."""

from typing import NamedTuple

from services.core.title import Outcome

from .state import State


class Standing(NamedTuple):
    """The comparison as it would come out now.

    `rings`: White's and Black's adventurers in each ring, centre first. `deciding`: the first ring that
    tells the colours apart, and `leader` the seat it favours; None for both when no ring does.
    """

    rings: tuple[tuple[int, int], ...]
    deciding: int | None
    leader: int | None


def standing(state: State) -> Standing:
    """The comparison by the match's `final_compare`. Guides never count."""
    white, black = state.adventurers
    rings = tuple(((white & ring).bit_count(), (black & ring).bit_count()) for ring in state.geometry.rings)
    for d, (whites, blacks) in enumerate(rings):
        if state.final_compare == "presence":
            whites, blacks = min(whites, 1), min(blacks, 1)
        if whites != blacks:
            return Standing(rings, d, int(blacks > whites))
    return Standing(rings, None, None)


def outcome(state: State) -> Outcome | None:
    """None while anyone can move."""
    if state.turn is not None:
        return None
    leader = standing(state).leader
    if leader is None:
        return Outcome((0, 1), "all_rings_level")
    return Outcome((leader,), "nearest_the_centre")
