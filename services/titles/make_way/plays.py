"""Which plays a position offers, found for all tiles at once on 36-bit boards."""

from typing import Final, NamedTuple

from services.titles.make_way.components import (
    ALL,
    LANE,
    LANES,
    MENUS,
    RANKS,
    START_ROW,
    Board,
    backward,
    forward,
    lane_down,
    lane_up,
)
from services.titles.make_way.moves import Move
from services.titles.make_way.state import State

_LANES: Final = tuple(LANE << RANKS * lane for lane in range(LANES))


class _Reach(NamedTuple):
    """Steps of a seat, whatever its hand. `advance`: the tiles started from; the others: those ended on."""

    advance: Board
    shift_down: Board
    shift_up: Board
    enter: Board


def plays(state: State, seat: int) -> list[Move]:
    """Every legal play of `seat`, each once.

    Lane by lane; in each the advances, the shifts by -1, those by +1, the entries; each kind by rank.
    """
    advance, shift_down, shift_up, enter = _reach(state, seat)
    hand = state.hands[seat]
    found: list[Move] = []
    for lane, card in enumerate(state.lanes):
        if hand[card]:
            menu = MENUS[lane][card]
            low = RANKS * lane
            found += menu.advance[advance >> low & LANE]
            found += menu.shift_down[shift_down >> low & LANE]
            found += menu.shift_up[shift_up >> low & LANE]
            found += menu.enter[enter >> low & LANE]
    return found


def can_play(state: State, seat: int) -> bool:
    """Whether `seat` has any legal play."""
    held = _held(state, seat)
    # Most often a piece can enter a free tile, and then no other step is looked at.
    if state.supply[seat] and START_ROW[seat] & held & ~(state.boards[0] | state.boards[1]):
        return True
    advance, shift_down, shift_up, enter = _reach(state, seat)
    return bool((advance | shift_down | shift_up | enter) & held)


def _held(state: State, seat: int) -> Board:
    """The lanes whose card `seat` holds."""
    hand = state.hands[seat]
    return sum([tiles for tiles, card in zip(_LANES, state.lanes, strict=True) if hand[card]])


def _reach(state: State, seat: int) -> _Reach:
    own, other = state.boards[seat], state.boards[1 - seat]
    free = ALL & ~(own | other)
    # Where a piece coming from behind may step: free tiles, and opponents that can be pushed on.
    open_ahead = free | other & backward(free, seat)
    return _Reach(
        advance=backward(forward(own, seat) & open_ahead, seat),
        # Sideways anybody is pushed, if the lane beyond is free there.
        shift_down=lane_down(own) & (free | lane_up(free)),
        shift_up=lane_up(own) & (free | lane_down(free)),
        enter=(START_ROW[seat] | backward(own, seat)) & open_ahead if state.supply[seat] else 0,
    )
