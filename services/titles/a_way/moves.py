"""What players write: the options of a match and the moves of a turn. Their JSON is a public format."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, convert
from msgspec.structs import asdict

from services.titles.a_way.components import STOPS, Side, Slot
from services.titles.a_way.star_map import Axis

# Python lets `$` match before a last line break, which the notation could not write.
MapCardId = Annotated[str, Meta(pattern=r"^(S[1-9]|E[1-4]P[1-9]0?)$(?!\n)", max_length=5)]
HandCardId = Annotated[str, Meta(pattern=r"^(E[1-4]P[1-9]0?|A[1-4]-[a-z_]+)$(?!\n)", max_length=20)]

# A match lays far fewer than 32,767 cards, each at most one cell further out; two bytes hold a coordinate.
Coordinate = Annotated[int, Meta(ge=-32768, le=32767)]
Rot = Annotated[int, Meta(ge=0, le=3)]
Seat = Annotated[int, Meta(ge=0, le=3)]

Shape = tuple[str, ...]
CELL_ROT: Shape = ("cell", "rot")
DEST: Shape = ("dest",)
SEAT_DEST: Shape = ("seat", "dest")
CARD_ROT: Shape = ("card", "rot")
CARD_CELL_ROT: Shape = ("card", "cell", "rot")
AXIS_INDEX: Shape = ("axis", "index")
NOTHING: Shape = ()
SHAPES = (CELL_ROT, DEST, SEAT_DEST, CARD_ROT, CARD_CELL_ROT, AXIS_INDEX, NOTHING)


def _exactly(*shapes: Shape) -> Meta:
    """Tells the JSON Schema which members go together."""
    forms = [{"required": list(shape), "maxProperties": len(shape)} for shape in shapes]
    return Meta(extra_json_schema={"oneOf": forms})


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """`start`: the seat that begins."""

    start: Literal["random", 0, 1, 2, 3] = "random"


class Stop(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a ship can stand: a station of a card, `{"card": "S9", "station": "se"}`, or `{"base": "W"}`.

    Stations are named as printed, however the card is turned.
    """

    card: MapCardId | UnsetType = UNSET
    station: Slot | UnsetType = UNSET
    base: Side | UnsetType = UNSET

    def __post_init__(self) -> None:
        has_card, has_station = self.card is not UNSET, self.station is not UNSET
        if has_card != has_station or has_card == (self.base is not UNSET):
            raise ValueError("a stop is a card with a station, or a base")


Dest = Annotated[Stop, _exactly(("card", "station"), ("base",))]


class Params(Struct, frozen=True, forbid_unknown_fields=True):
    """What a card needs to be carried out; which members there are depends on the card.

    Exploration card: `cell`, `rot`. Hyperdrive! and Solar Winds: `dest`. Pirate Attack!: `seat`, `dest`.
    Unstable Magnetic Field!: `card`, `rot`. Solar Tornado: `card`, `cell`, `rot`.
    Black Hole: `axis`, `index`. Unknown Fate and Scrap Yard: none.
    """

    seat: Seat | UnsetType = UNSET
    card: MapCardId | UnsetType = UNSET
    cell: tuple[Coordinate, Coordinate] | UnsetType = UNSET
    rot: Rot | UnsetType = UNSET
    dest: Dest | UnsetType = UNSET
    axis: Axis | UnsetType = UNSET
    index: Coordinate | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self._present() not in _SHAPE:
            names = (name for name, value in asdict(self).items() if value is not UNSET)
            raise ValueError(f"no card takes the parameters {', '.join(names)}")

    @property
    def shape(self) -> Shape:
        """The names of the members that are there."""
        return _SHAPE[self._present()]

    def _present(self) -> tuple[bool, ...]:
        # Spelt out, since legal moves make thousands of these.
        return (
            self.seat is not UNSET,
            self.card is not UNSET,
            self.cell is not UNSET,
            self.rot is not UNSET,
            self.dest is not UNSET,
            self.axis is not UNSET,
            self.index is not UNSET,
        )


_SHAPE = {tuple(name in shape for name in Params.__struct_fields__): shape for shape in SHAPES}


CardParams = Annotated[Params, _exactly(*SHAPES)]


class MoveShip(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="move"):
    """Fly by one station: as the main action, or as the flight after it."""

    dest: Dest


class PlayCard(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="play_card"):
    """Play a card of the hand."""

    card: HandCardId
    params: CardParams


class ResolveCard(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="resolve_card"):
    """Carry out the card that Unknown Fate or Scrap Yard has brought up."""

    params: CardParams


class EndPlay(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="end_play"):
    """Play no more cards in this turn."""


class Discard(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="discard"):
    """Put one to three cards of the hand on the discard pile, in this order."""

    cards: Annotated[tuple[HandCardId, ...], Meta(min_length=1, max_length=3)]


class Skip(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="skip"):
    """Do without the flight after the main action."""


Move = MoveShip | PlayCard | ResolveCard | EndPlay | Discard | Skip


def stop_named(name: str) -> Stop:
    """The stop called "S9.se" or "W". Raises msgspec.ValidationError for what cannot be a stop."""
    card, dot, station = name.partition(".")
    return convert({"card": card, "station": station} if dot else {"base": name}, Stop)


def stop_name(stop: Stop) -> str:
    return f"{stop.base}" if stop.base is not UNSET else f"{stop.card}.{stop.station}"


# By stop number, and back; a stop that no card has is missing.
STOP_AT = tuple(stop_named(name) for name in STOPS)
NUMBER_OF = {stop: number for number, stop in enumerate(STOP_AT)}
