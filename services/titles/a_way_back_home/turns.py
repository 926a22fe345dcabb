"""From one turn to the next: blocked players pass, and a character who blocks one goes to the box."""

from msgspec.structs import replace

from services.titles.a_way_back_home.state import IN_BOX, IN_POOL, State
from services.titles.a_way_back_home.takes import TAKES, in_force

DRAWN = 3  # crystals per draw


def can_draw(state: State) -> bool:
    return sum(state.bags[state.turn]) >= DRAWN


def can_take(state: State) -> bool:
    """Whether the take action in force can be done in full."""
    return TAKES[in_force(state)].is_doable(state.pool)


def end_turn(state: State) -> State:
    """The next turn of somebody who can act, or the end."""
    return unblocked(replace(state, turns=state.turns + 1, passes=0))


def unblocked(state: State) -> State:
    """`state`, a turn just begun, moved on by forced passes as long as nobody can act."""
    while not (state.ending or can_draw(state) or can_take(state)):
        state = _without_character(state)
        if not can_take(state):
            state = replace(state, turns=state.turns + 1, passes=state.passes + 1)
    return state


def _without_character(state: State) -> State:
    """A blocked player's turn sends a character that lies in the pool to the box, for everybody."""
    if state.tile and state.tile.where == IN_POOL:
        return replace(state, tile=replace(state.tile, where=IN_BOX))
    return state
