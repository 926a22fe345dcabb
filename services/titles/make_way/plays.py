"""Which plays a position offers, found for all tiles at once on 36-bit boards."""

from services.titles.make_way.components import (
    ALL,
    MENUS,
    RANKS,
    START_ROW,
    backward,
    forward,
    lane_down,
    lane_up,
)
from services.titles.make_way.moves import Move
from services.titles.make_way.state import State

_LANE = (1 << RANKS) - 1


def plays(state: State, seat: int) -> list[Move]:
    """Every legal play of `seat`, each once.

    Lane by lane; in each the advances, the shifts by -1, those by +1, the entries; each kind by rank.
    """
    own, other = state.boards[seat], state.boards[1 - seat]
    free = ALL & ~(own | other)
    # Where a piece coming from behind may step: free tiles, and opponents that can be pushed on.
    open_ahead = free | other & backward(free, seat)
    advance = backward(forward(own, seat) & open_ahead, seat)
    # Sideways anybody is pushed, if the lane beyond is free there.
    shift_down = lane_down(own) & (free | lane_up(free))
    shift_up = lane_up(own) & (free | lane_down(free))
    enter = (START_ROW[seat] | backward(own, seat)) & open_ahead if state.supply[seat] else 0

    hand = state.hands[seat]
    found: list[Move] = []
    for lane, card in enumerate(state.lanes):
        if hand[card]:
            menu = MENUS[lane][card]
            low = RANKS * lane
            found += menu.advance[advance >> low & _LANE]
            found += menu.shift_down[shift_down >> low & _LANE]
            found += menu.shift_up[shift_up >> low & _LANE]
            found += menu.enter[enter >> low & _LANE]
    return found
