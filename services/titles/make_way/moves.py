"""What players write: the options of a match and the actions of a turn. Their JSON is a public format."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Symbol = Literal["drop", "wheel", "hammers", "bricks", "circles", "arrow"]

Lane = Annotated[int, Meta(ge=0, le=5, description="Left to right as seat 0 sees the board.")]
Rank = Annotated[int, Meta(ge=1, le=6, description="From seat 0's edge to seat 1's edge.")]
Tile = tuple[Lane, Rank]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """`rounds`: of nine turns each. `lane_order`: which symbol lies in which lane. `start`: a seat."""

    rounds: Literal[3, 4] = 3
    lane_order: Literal["fixed", "shuffled"] = "fixed"
    start: Literal["random", 0, 1] = "random"


class Advance(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="advance",
    rename={"origin": "from"},
):
    """Your piece on `from` steps one tile forward."""

    origin: Tile


class Shift(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="shift", rename={"origin": "from"}
):
    """Your piece on `from` steps one lane sideways; lanes 0 and 5 are neighbours."""

    origin: Tile
    dir: Literal[-1, 1]


class Enter(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="enter"):
    """A piece of your supply comes onto `to`: your start row, or right behind a piece of yours."""

    to: Tile


Step = Advance | Shift | Enter


class Play(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="play"):
    """Spend a card to move a piece into the lane that the card names."""

    card: Symbol
    move: Step


class Discard(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="discard"):
    """Spend a card for nothing; only when no card in hand can be played."""

    card: Symbol


Move = Play | Discard
