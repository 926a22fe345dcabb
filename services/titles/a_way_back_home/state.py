"""A position, as small as it can be said, and its canonical encoding."""

from typing import Literal

from msgspec import Struct

from services.titles.a_way_back_home.components import CHARACTERS, COLOUR_OF, SIDES, SPACES, Side

# How many crystals of each of the seven colours.
Counts = tuple[int, ...]

# One byte per space of a board: 0 empty, else 1 + colour of the crystal.
Cells = bytes

NOTHING: Counts = (0,) * 7
UNLIT: Cells = bytes(SPACES)

# Where a character tile lies, when not with a seat.
IN_POOL = -1
IN_BOX = -2

Phase = Literal["choose", "place", "over"]
Ending = Literal["end_declared", "all_blocked", "turn_limit"]

TURNS_MAX = 100  # per player, passes included, as long as nobody declares the end


class Tile(Struct, frozen=True):
    """The character of a match. `where`: a seat, IN_POOL or IN_BOX."""

    character: int
    where: int = IN_POOL

    @property
    def path(self) -> int:
        """The path whose building the character looks for."""
        return COLOUR_OF[CHARACTERS[self.character].building]


class State(Struct, frozen=True, kw_only=True):
    """A position between two moves; forced passes are already carried out.

    `boards` and `bags`: by seat. `drawn`: colours, ascending; empty unless they wait to be placed.
    `start`: the seat that began. `turns`: turns ended so far, passes included. `passes`: how many of
    the last of them were passes. `tile`: Side B only. `declared_by`: a seat.
    """

    side: Literal["A", "B"] = "A"
    boards: tuple[Cells, ...]
    bags: tuple[Counts, ...]
    pool: Counts = NOTHING
    drawn: tuple[int, ...] = ()
    tile: Tile | None = None
    start: int = 0
    turns: int = 0
    passes: int = 0
    declared_by: int | None = None

    @property
    def layout(self) -> Side:
        return SIDES[self.side]

    @property
    def players(self) -> int:
        return len(self.boards)

    @property
    def turn(self) -> int:
        """The seat whose turn it is; after the end, whose it would be."""
        return (self.start + self.turns) % len(self.boards)

    @property
    def last_active(self) -> int:
        """The last seat that ended a turn otherwise than by a pass; the starting seat before any did."""
        acted = self.turns - self.passes
        return (self.start + max(acted - 1, 0)) % len(self.boards)

    @property
    def ending(self) -> Ending | None:
        """Why the game is over; None while it goes on."""
        if self.declared_by is not None:
            return "end_declared" if self.turn == self.declared_by else None
        if self.passes >= self.players:
            return "all_blocked"
        return "turn_limit" if self.turns >= TURNS_MAX * self.players else None

    @property
    def phase(self) -> Phase:
        if self.ending:
            return "over"
        return "place" if self.drawn else "choose"


def plus(some: Counts, more: Counts) -> Counts:
    return tuple(a + b for a, b in zip(some, more, strict=True))


def minus(some: Counts, fewer: Counts) -> Counts:
    return tuple(a - b for a, b in zip(some, fewer, strict=True))


def counted(colours: tuple[int, ...] | list[int]) -> Counts:
    """How often each colour occurs."""
    return tuple(map(colours.count, range(7)))


def canonical(state: State) -> bytes:
    """The encoding that digests are taken of: 20 bytes, then 43 per player. Storage format.

    side (0 A, 1 B), players, start, turns (2 bytes, big-endian), passes, declared_by + 1 or 0,
    character + 1 or 0, where its tile lies + 2, the pool's 7 counts, the number of crystals drawn,
    and each of those (3 bytes, filled up with 0); then by seat the bag's 7 counts and the board's 36
    cells (see `Cells`) in the order of `Side.spaces`.
    """
    tile = state.tile
    head = (
        state.side == "B",
        len(state.boards),
        state.start,
        *state.turns.to_bytes(2, "big"),
        state.passes,
        0 if state.declared_by is None else state.declared_by + 1,
        0 if tile is None else tile.character + 1,
        0 if tile is None else tile.where + 2,
        *state.pool,
        len(state.drawn),
        *state.drawn,
        *(0,) * (3 - len(state.drawn)),
    )
    hands = (bytes(bag) + board for bag, board in zip(state.bags, state.boards, strict=True))
    return bytes(head) + b"".join(hands)
