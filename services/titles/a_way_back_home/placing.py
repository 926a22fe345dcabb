"""Placing drawn crystals: what may be placed, the character tile on the way, and declaring the end."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from services.core.errors import MoveIllegal
from services.titles.a_way_back_home import board
from services.titles.a_way_back_home.components import COLOUR_OF, COLOURS, PATHS, WILD, Side
from services.titles.a_way_back_home.moves import Place, Placement
from services.titles.a_way_back_home.state import IN_BOX, IN_POOL, Cells, State, Tile, counted, plus

_PLACEMENTS = [[Placement(crystal, path) for path in PATHS] for crystal in COLOURS]
_PATHS_FOR = [*((path,) for path in range(6)), tuple(range(6))]


class _Step(NamedTuple):
    """One crystal placed: the board after it, and the drawn crystals still in hand."""

    placement: Placement
    cells: Cells
    left: tuple[int, ...]


def legal_places(state: State) -> Iterator[Place]:
    """Single placements and ordered pairs, each followed by itself with the declaration where allowed."""
    seat, side = state.turn, state.layout
    may_declare = state.declared_by is None and not any(state.bags[seat])
    for placements, cells in _sequences(side, state.boards[seat], state.drawn):
        yield Place(placements)
        if may_declare and board.has_reached_zero(side, cells):
            yield Place(placements, declare_end=True)


def place(state: State, move: Place) -> State:
    """The position after the placements, the turn not yet ended. Raises MoveIllegal."""
    seat = state.turn
    if len(move.placements) > 2:
        raise MoveIllegal("place-one-or-two", f"{len(move.placements)} placements")
    side, cells, left, tile = state.layout, state.boards[seat], list(state.drawn), state.tile
    if not move.placements:
        _check_none_fits(side, cells, state.drawn)
    for placement in move.placements:
        cells = _placed(side, cells, left, placement)
        tile = _tile_after(tile, seat, side, cells)
    if move.declare_end:
        _check_declaration(state, cells)
    return replace(
        state,
        boards=(*state.boards[:seat], cells, *state.boards[seat + 1 :]),
        pool=plus(state.pool, counted(left)),
        drawn=(),
        tile=tile,
        declared_by=seat if move.declare_end else state.declared_by,
    )


def _sequences(
    side: Side, cells: Cells, drawn: tuple[int, ...]
) -> Iterator[tuple[tuple[Placement, ...], Cells]]:
    first_steps = _steps(side, cells, drawn)
    if not first_steps:
        yield (), cells
    for first in first_steps:
        yield (first.placement,), first.cells
        for second in _steps(side, first.cells, first.left):
            yield (first.placement, second.placement), second.cells


def _steps(side: Side, cells: Cells, hand: tuple[int, ...]) -> list[_Step]:
    """Every single placement from `hand`, equal crystals counted once."""
    steps = []
    for crystal in sorted(set(hand)):
        at = hand.index(crystal)
        left = hand[:at] + hand[at + 1 :]
        for path in _PATHS_FOR[crystal]:
            after = board.lit(side, cells, path, crystal)
            if after is not None:
                steps.append(_Step(_PLACEMENTS[crystal][path], after, left))
    return steps


def _placed(side: Side, cells: Cells, left: list[int], placement: Placement) -> Cells:
    """The board after `placement`, whose crystal is removed from `left`. Raises MoveIllegal."""
    crystal, path = COLOUR_OF[placement.crystal], COLOUR_OF[placement.path]
    if crystal not in left:
        in_hand = ", ".join(COLOURS[colour] for colour in left)
        raise MoveIllegal("place-drawn-crystals", f"no {placement.crystal} among {in_hand}")
    if crystal not in (WILD, path):
        raise MoveIllegal("crystal-on-own-path", f"a {placement.crystal} crystal on {placement.path}")
    after = board.lit(side, cells, path, crystal)
    if after is None:
        raise MoveIllegal("goal-takes-no-crystal", f"{placement.path} is at its goal")
    left.remove(crystal)
    return after


def _tile_after(tile: Tile | None, seat: int, side: Side, cells: Cells) -> Tile | None:
    """Where the tile lies after a placement of `seat`: reaching the building takes it, passing boxes it."""
    if tile is None or tile.where not in (IN_POOL, seat):
        return tile
    front = board.front(side, cells, tile.path)
    if tile.where == IN_POOL:
        return replace(tile, where=seat) if front == side.building else tile
    return replace(tile, where=IN_BOX) if front != side.building else tile


def _check_none_fits(side: Side, cells: Cells, drawn: tuple[int, ...]) -> None:
    steps = _steps(side, cells, drawn)
    if steps:
        fits = steps[0].placement
        raise MoveIllegal("place-when-possible", f"a {fits.crystal} crystal can go on {fits.path}")


def _check_declaration(state: State, cells: Cells) -> None:
    """`cells`: the board after the placements."""
    if state.declared_by is not None:
        raise MoveIllegal("declare-once", f"seat {state.declared_by} has declared the end")
    in_bag = sum(state.bags[state.turn])
    if in_bag:
        raise MoveIllegal("declare-with-empty-bag", f"crystals left in the bag: {in_bag}")
    if not board.has_reached_zero(state.layout, cells):
        highest = max(board.fronts(state.layout, cells))
        raise MoveIllegal(
            "declare-after-zero", f"the furthest front is {highest}, zero is {state.layout.zero}"
        )
