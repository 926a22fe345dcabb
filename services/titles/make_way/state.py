"""A position, as small as it can be said, and its canonical encoding."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from services.titles.make_way.components import LANES, PIECES, ROUND, SYMBOLS, Board

Counts = tuple[int, ...]  # how many cards of each symbol
Symbols = tuple[int, ...]  # one symbol after the other

NO_CARDS: Counts = (0,) * len(SYMBOLS)
FIXED_LANES: Symbols = tuple(range(LANES))


class State(Struct, frozen=True):
    """A position between two turns; cards for the next round are already dealt.

    `boards`, `supply`, `hands` and `spent`: by seat. `spent`: cards played or discarded since the last
    shuffle, face up. `deck`: top first. `lanes`: the symbol of each lane. `start`: the seat that began.
    `ply`: turns taken so far.
    """

    boards: tuple[Board, Board] = (0, 0)
    supply: tuple[int, int] = (PIECES, PIECES)
    hands: tuple[Counts, Counts] = (NO_CARDS, NO_CARDS)
    spent: tuple[Counts, Counts] = (NO_CARDS, NO_CARDS)
    deck: Symbols = ()
    ply: int = 0
    start: int = 0
    rounds: Literal[3, 4] = 3
    lanes: Symbols = FIXED_LANES

    @property
    def turn(self) -> int:
        """The seat whose turn it is; after the end, whose it would be."""
        return (self.start + self.ply) % 2

    @property
    def round(self) -> int:
        """Counted from 1; after the end, the last one."""
        return min(self.ply // ROUND + 1, self.rounds)

    @property
    def is_over(self) -> bool:
        return self.ply == ROUND * self.rounds


def counted(cards: Iterable[int]) -> Counts:
    """How many cards of each symbol there are."""
    every = tuple(cards)
    return tuple(map(every.count, range(len(SYMBOLS))))


def canonical(state: State) -> bytes:
    """The encoding that digests are taken of: 45 bytes, then one per card in the deck. Storage format.

    rounds, start, ply; the symbol of each lane (6); the boards of seat 0 and seat 1 (5 bytes each,
    big-endian); both supplies; the hands, then the spent cards, of seat 0 and seat 1 (6 counts each);
    the deck from its top.
    """
    red, blue = state.boards
    return b"".join(
        (
            bytes((state.rounds, state.start, state.ply, *state.lanes)),
            red.to_bytes(5, "big"),
            blue.to_bytes(5, "big"),
            bytes(state.supply + state.hands[0] + state.hands[1] + state.spent[0] + state.spent[1]),
            bytes(state.deck),
        )
    )
