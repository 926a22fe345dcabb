"""The map: which card lies where and how it is turned, and where the bases are.

Cells are (x, y); x grows to the east, y to the south, without end. A map never changes: laying,
turning, moving and closing up give a new one.
"""

from functools import cached_property
from typing import Literal, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from services.titles.a_way.components import FIRST_STATION

Cell = tuple[int, int]
Axis = Literal["row", "col"]

# One cell over each side: N, E, S, W.
OVER: tuple[Cell, ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))


class Laid(NamedTuple):
    """A card on the map, turned `rot` quarters clockwise."""

    card: int
    x: int
    y: int
    rot: int

    @property
    def cell(self) -> Cell:
        return self.x, self.y


class StarMap(Struct, frozen=True, dict=True):
    """`cards`: by rising card number. `bases`: N, E, S, W; None where the map has no such base.

    What is derived from a map is worked out at most once, and counts neither for equality nor for the digest.
    """

    cards: tuple[Laid, ...]
    bases: tuple[Cell | None, ...]

    @cached_property
    def places(self) -> dict[int, Laid]:
        """Where each card lies, by card number."""
        return {laid.card: laid for laid in self.cards}

    @cached_property
    def cells(self) -> dict[Cell, int]:
        """What lies in a cell: 0-3 a base, otherwise 4 + 4 * card + rot."""
        taken = {cell: base for base, cell in enumerate(self.bases) if cell is not None}
        for card, x, y, rot in self.cards:
            taken[x, y] = FIRST_STATION + 4 * card + rot
        return taken

    @cached_property
    def open_cells(self) -> tuple[Cell, ...]:
        """The free cells next to a card (a base does not count), row by row."""
        near = {(x + dx, y + dy) for _, x, y, _ in self.cards for dx, dy in OVER}
        return tuple(sorted(near - self.cells.keys(), key=lambda cell: (cell[1], cell[0])))

    @cached_property
    def stops_found(self) -> dict[tuple[int, bool], tuple[int, ...]]:
        """Flights already worked out on this map; see `flight.stops`."""
        return {}

    @cached_property
    def distances_found(self) -> dict[tuple[int, int], int | None]:
        """Distances already worked out on this map; see `flight.distance`."""
        return {}

    def touches(self, cell: Cell, besides: int) -> bool:
        """Whether a card other than `besides` lies next to `cell`."""
        x, y = cell
        near = (self.cells.get((x + dx, y + dy), 0) for dx, dy in OVER)
        return any(found >= FIRST_STATION and (found - FIRST_STATION) // 4 != besides for found in near)

    def line(self, axis: Axis, index: int) -> list[Laid]:
        """The cards of a row (all cells with y = index) or column (x = index), by rising coordinate."""
        if axis == "row":
            return sorted((laid for laid in self.cards if laid.y == index), key=lambda laid: laid.x)
        return sorted((laid for laid in self.cards if laid.x == index), key=lambda laid: laid.y)

    def base_in_line(self, axis: Axis, index: int) -> int | None:
        """A base of that row or column, if there is one."""
        place = 1 if axis == "row" else 0
        return next((n for n, base in enumerate(self.bases) if base and base[place] == index), None)

    def with_card(self, card: int, cell: Cell, rot: int) -> Self:
        """The map with the card in that cell, wherever it lay before."""
        others = (laid for laid in self.cards if laid.card != card)
        return replace(self, cards=tuple(sorted((*others, Laid(card, *cell, rot)))))

    def closed_up(self, axis: Axis, index: int) -> Self:
        """The map without the cards of a line; what lies beyond it has moved one cell back."""
        dx, dy = (0, 1) if axis == "row" else (1, 0)

        def back(x: int, y: int) -> Cell:
            beyond = x * dx + y * dy > index
            return (x - dx, y - dy) if beyond else (x, y)

        left = (laid for laid in self.cards if laid.x * dx + laid.y * dy != index)
        cards = tuple(Laid(card, *back(x, y), rot) for card, x, y, rot in left)
        return replace(self, cards=cards, bases=tuple(base and back(*base) for base in self.bases))
