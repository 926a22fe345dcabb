"""What can be chosen: the options of a table and the one kind of move."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """`rounds`: how many are played, 1 to 8."""

    rounds: Annotated[int, Meta(ge=1, le=8)] = 3
    start: Literal[0, 1] = 0


class Play(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="play"):
    """Play a card of your hand."""

    card: int
