"""What everybody sees, which is everything: seats and spectators get the same."""

from functools import lru_cache
from typing import Annotated, Literal

from msgspec import Meta, Struct

from .points import Point
from .scoring import standing
from .state import COLOURS, Colour, State

Points = Annotated[
    list[Point], Meta(description="Axial [q, r], rows from the least r, each from its least q.")
]


class Side(Struct, frozen=True):
    """The pieces of one colour."""

    colour: Colour
    guides: Points
    adventurers: Points


class View(Struct, frozen=True, kw_only=True):
    """The board, whose turn it is, and who would win if nobody could move any more."""

    size: Annotated[
        int, Meta(description="Points a side: [q, r] is on the board where max(|q|, |r|, |q+r|) < size.")
    ]
    final_compare: Annotated[
        Literal["presence", "count"], Meta(description="What a ring is compared by; see the options.")
    ]
    turn: Annotated[
        int | None, Meta(description="The seat to move; null when neither can: the game is over.")
    ]
    ply: Annotated[int, Meta(description="Moves made so far; a forced pass is none.")]
    passed: Annotated[
        bool, Meta(description="The seat to move has just moved: the other had no move and passed.")
    ]
    sides: Annotated[tuple[Side, Side], Meta(description="By seat: White is 0, Black is 1.")]
    rings: Annotated[
        tuple[tuple[int, int], ...],
        Meta(description="White's and Black's number of adventurers in each ring, the centre first."),
    ]
    deciding_ring: Annotated[
        int | None, Meta(description="The ring that would decide now, 0 is the centre; null: none does.")
    ]
    leader: Annotated[int | None, Meta(description="The seat that would win now; null: a draw.")]


# Asked once for every audience of a position.
@lru_cache(maxsize=256)
def view(state: State) -> View:
    """The whole position; with the final comparison as it would come out now."""
    now = standing(state)
    return View(
        size=state.size,
        final_compare=state.final_compare,
        turn=state.turn,
        ply=state.ply,
        passed=state.passed,
        sides=(_side(state, 0), _side(state, 1)),
        rings=now.rings,
        deciding_ring=now.deciding,
        leader=now.leader,
    )


def _side(state: State, seat: int) -> Side:
    listed = state.geometry.listed
    return Side(COLOURS[seat], listed(state.guides[seat]), listed(state.adventurers[seat]))
