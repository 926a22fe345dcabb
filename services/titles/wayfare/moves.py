"""Options and moves as JSON.

Storage format: events hold moves and options in exactly this shape.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

# Wide enough for the largest board; whether a point is on the board in play is a question of the rules.
REACH = 9

Coordinate = Annotated[int, Meta(ge=-REACH, le=REACH)]
Point = Annotated[tuple[Coordinate, Coordinate], Meta(description="Axial [q, r]; the centre is [0, 0].")]
Kind = Literal["guide", "adventurer"]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """`size`: points a side. `final_compare`: what a ring is compared by when nobody can move."""

    size: Annotated[Literal[6, 8, 10], Meta(description="Points on each side of the board.")] = 8
    final_compare: Annotated[
        Literal["presence", "count"],
        Meta(
            description="From the centre outwards the first ring decides in which only one colour has "
            "adventurers (presence), or in which one has more of them (count)."
        ),
    ] = "presence"


class GuideMove(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="guide", gc=False):
    """A guide passes one enemy guide in a straight line, which becomes an adventurer of the mover."""

    from_: Point = field(name="from")
    to: Point


class AdventurerMove(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="adventurer", gc=False
):
    """An adventurer travels along own pieces of the kind `ref` and stops where it leaves them.

    The way is not told: the result depends on both ends alone.
    """

    from_: Point = field(name="from")
    to: Point
    ref: Annotated[Kind, Meta(description="The kind of own pieces followed, and of the piece captured.")]


Move = GuideMove | AdventurerMove
