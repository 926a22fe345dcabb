"""Nothing is hidden in Wayfare: no two positions look the same to anybody."""

from random import Random

from services.titles.wayfare.state import State

HIDES = False

SECRETS = {}


def known(state: State, viewer: int | None) -> State:
    """The whole position."""
    return state


def twin(state: State, viewer: int | None, rng: Random) -> State:
    """The position itself."""
    return state
