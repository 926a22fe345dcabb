"""The cards that change the map: Exploration cards, Magnetic Field, Solar Tornado and Black Hole."""

from collections.abc import Iterator

from msgspec.structs import replace

from services.core.errors import MoveIllegal
from services.titles.a_way.components import CARDS, KIND, NUMBER, SIDES, SOLAR
from services.titles.a_way.moves import Params
from services.titles.a_way.star_map import Axis, Cell, Laid
from services.titles.a_way.state import State

_AXES: tuple[Axis, ...] = ("row", "col")


def lay_choices(state: State) -> Iterator[Params]:
    for cell in state.sky.open_cells:
        for rot in range(4):
            yield Params(cell=cell, rot=rot)


def lay(state: State, card: int, cell: Cell, rot: int) -> State:
    """An Exploration card of the hand, or one brought up, on the map."""
    _check_cell(state, card, cell)
    return replace(state, sky=state.sky.with_card(card, cell, rot))


def turn_choices(state: State) -> Iterator[Params]:
    for laid in _without_ship(state):
        for rot in range(4):
            if rot != laid.rot:
                yield Params(card=CARDS[laid.card].id, rot=rot)


def turn(state: State, card_id: str, rot: int) -> State:
    """Unstable Magnetic Field!"""
    laid = _chosen(state, card_id)
    if rot == laid.rot:
        raise MoveIllegal("rotation-differs", f"{card_id} already has rotation {rot}")
    return replace(state, sky=state.sky.with_card(laid.card, laid.cell, rot))


def shift_choices(state: State) -> Iterator[Params]:
    for laid in _without_ship(state):
        if KIND[laid.card] == "exploration":
            for cell in state.sky.open_cells:
                if state.sky.touches(cell, besides=laid.card):
                    for rot in range(4):
                        yield Params(card=CARDS[laid.card].id, cell=cell, rot=rot)


def shift(state: State, card_id: str, cell: Cell, rot: int) -> State:
    """Solar Tornado: to another cell, where it need not touch what it touched before."""
    laid = _chosen(state, card_id)
    if laid.card in SOLAR:
        raise MoveIllegal("tornado-takes-exploration", f"{card_id} is a Solar card")
    _check_cell(state, laid.card, cell)
    return replace(state, sky=state.sky.with_card(laid.card, cell, rot))


def swallow_choices(state: State) -> Iterator[Params]:
    for axis in _AXES:
        lines = {laid.y if axis == "row" else laid.x for laid in state.sky.cards}
        for index in sorted(lines):
            if _spared(state, axis, index) is None:
                yield Params(axis=axis, index=index)


def swallow(state: State, axis: Axis, index: int) -> State:
    """Black Hole: the line's Exploration cards are discarded at once, its Solar cards leave the game."""
    spared = _spared(state, axis, index)
    if spared:
        raise spared
    gone = [laid.card for laid in state.sky.line(axis, index)]
    solar = (card for card in gone if card in SOLAR)
    return replace(
        state,
        sky=state.sky.closed_up(axis, index),
        discard=(*state.discard, *(card for card in gone if card not in SOLAR)),
        removed=tuple(sorted((*state.removed, *solar))),
    )


def _spared(state: State, axis: Axis, index: int) -> MoveIllegal | None:
    """Why a black hole cannot take this line."""
    base = state.sky.base_in_line(axis, index)
    if base is not None:
        return MoveIllegal("line-without-base", f"base {SIDES[base]} lies in {axis} {index}")
    line = state.sky.line(axis, index)
    if not line:
        return MoveIllegal("line-has-card", f"there is no card in {axis} {index}")
    for laid in line:
        if laid.card in state.cards_with_ship:
            return MoveIllegal("line-without-ship", f"a ship is on {CARDS[laid.card].id} in {axis} {index}")
    return None


def _without_ship(state: State) -> Iterator[Laid]:
    taken = state.cards_with_ship
    return (laid for laid in state.sky.cards if laid.card not in taken)


def _chosen(state: State, card_id: str) -> Laid:
    """A card of the map that may be turned or moved."""
    laid = state.sky.places.get(NUMBER.get(card_id, -1))
    if laid is None:
        raise MoveIllegal("card-on-map", f"{card_id} does not lie on the map")
    if laid.card in state.cards_with_ship:
        raise MoveIllegal("card-without-ship", f"a ship is on {card_id}")
    return laid


def _check_cell(state: State, card: int, cell: Cell) -> None:
    if cell in state.sky.cells:
        raise MoveIllegal("cell-is-free", f"cell {cell} is taken")
    if not state.sky.touches(cell, besides=card):
        raise MoveIllegal("cell-touches-card", f"no other card lies next to cell {cell}")
