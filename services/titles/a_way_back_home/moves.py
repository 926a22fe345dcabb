"""What players write: the options of a match and the moves of a turn. Their JSON is a public format."""

from typing import Annotated, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple

PathName = Literal["green", "pink", "purple", "black", "orange", "blue"]
CrystalName = Literal["green", "pink", "purple", "black", "orange", "blue", "wild"]
TakeName = Literal["base", "any_two", "one_of_each", "scarcest", "any_five", "two_colours", "most_frequent"]

# At most 4 players x 5 crystals of a colour exist.
Amount = Annotated[int, Meta(ge=1, le=20)]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """`character`: 0 Pedlar, 1 Painter, 2 Hermit, 3 Porter, 4 Twins, 5 Giant; only on Side B.
    `start`: the seat that begins.
    """

    side: Literal["A", "B"] = "A"
    character: Literal["random", 0, 1, 2, 3, 4, 5] = "random"
    start: Literal["random", 0, 1, 2, 3] = "random"


class Draw(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="draw"):
    """Draw three crystals from one's bag, to be placed next."""


class Placement(Struct, frozen=True, forbid_unknown_fields=True):
    """One drawn crystal for the first empty space of a path."""

    crystal: CrystalName
    path: PathName


class Place(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="place"):
    """Place one or two of the three drawn crystals, in this order; the rest goes to the pool."""

    placements: Annotated[tuple[Placement, ...], Meta(max_length=3)]
    declare_end: bool = False


class Crystals(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How many crystals of each colour; a colour that is not named is not meant."""

    green: Amount | UnsetType = UNSET
    pink: Amount | UnsetType = UNSET
    purple: Amount | UnsetType = UNSET
    black: Amount | UnsetType = UNSET
    orange: Amount | UnsetType = UNSET
    blue: Amount | UnsetType = UNSET
    wild: Amount | UnsetType = UNSET

    @classmethod
    def of(cls, counts: tuple[int, ...]) -> Self:
        """`counts`: seven numbers, by colour."""
        return cls(*(count or UNSET for count in counts))

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(count or 0 for count in astuple(self))


class Take(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="take"):
    """Take these crystals from the pool into one's bag."""

    crystals: Crystals


Move = Draw | Place | Take
