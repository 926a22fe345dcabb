"""The position: four sets of points, one per colour and kind, and whose turn it is."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .components import Geometry, geometry
from .moves import Kind
from .points import Point

Colour = Literal["white", "black"]

COLOURS: tuple[Colour, Colour] = ("white", "black")  # by seat
PIECES: tuple[tuple[int, Kind], ...] = ((0, "guide"), (1, "guide"), (0, "adventurer"), (1, "adventurer"))

# A piece as on a diagram: the colour, then the kind.
Symbol = Literal["WG", "BG", "WA", "BA"]


class State(Struct, frozen=True):
    """A position. Pairs are by seat: 0 is White, 1 is Black. Sets of points are masks of `Geometry`.

    `turn`: the seat to move; None when neither can, which ends the game. `ply`: moves made so far.
    `passed`: the seat to move is the one that moved last, because the other had no move.
    """

    size: int
    final_compare: Literal["presence", "count"]
    guides: tuple[int, int]
    adventurers: tuple[int, int]
    turn: int | None
    ply: int = 0
    passed: bool = False

    @property
    def geometry(self) -> Geometry:
        return geometry(self.size)

    @property
    def occupied(self) -> int:
        return self.guides[0] | self.guides[1] | self.adventurers[0] | self.adventurers[1]

    def pieces(self, seat: int, kind: Kind) -> int:
        return self.guides[seat] if kind == "guide" else self.adventurers[seat]

    def occupant(self, point: Point) -> tuple[int, Kind] | None:
        """(seat, kind) of the piece on a point of the board. Raises KeyError off it."""
        bit = self.geometry.bit_of[point]
        return next(((seat, kind) for seat, kind in PIECES if bit & self.pieces(seat, kind)), None)


def by_seat(seat: int, own: int, enemy: int) -> tuple[int, int]:
    """The pair that gives `seat` its own and the other seat the enemy's."""
    return (enemy, own) if seat else (own, enemy)


def placed(
    size: int,
    pieces: Mapping[Point, Symbol],
    turn: int = 0,
    final_compare: Literal["presence", "count"] = "presence",
) -> State:
    """A position with just these pieces. Raises KeyError for a point off the board.

    `turn` is taken as given; `rules.settled` passes or ends the game where that seat has no move.
    """
    bit_of = geometry(size).bit_of
    masks = {"WG": 0, "BG": 0, "WA": 0, "BA": 0}
    for point, symbol in pieces.items():
        masks[symbol] |= bit_of[point]
    guides, adventurers = (masks["WG"], masks["BG"]), (masks["WA"], masks["BA"])
    return State(size, final_compare, guides, adventurers, turn)


def canonical(state: State) -> bytes:
    """The position for play as bytes. Storage format: digests are taken of it.

    First `size`, then 0 for presence or 1 for count, then the seat to move or 2 when the game is over: a
    byte each. Then four planes: White's guides, Black's guides, White's adventurers, Black's adventurers.
    A plane is a big-endian number of `2*size * (2*size-1)` bits, filled up to whole bytes, in which point
    [q, r] is bit `(size-1-r) * 2*size + (size-1-q)`. How many moves led here, and whether one was a pass,
    is left out: it does not matter for play.
    """
    length = (2 * state.size * (2 * state.size - 1) + 7) // 8
    turn = 2 if state.turn is None else state.turn
    planes = (plane.to_bytes(length, "big") for plane in (*state.guides, *state.adventurers))
    return bytes((state.size, state.final_compare == "count", turn)) + b"".join(planes)
