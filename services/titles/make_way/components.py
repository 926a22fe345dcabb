"""The deck and the board's geometry, and every move there is, made once.

A symbol is counted from 0 in the order of `SYMBOLS`. A board is an int of 36 bits, one per tile:
bit 6 * lane + rank - 1. So a step along a lane is a shift by one bit, a step sideways a turn by six.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, get_args

from services.titles.make_way.moves import Advance, Discard, Enter, Play, Shift, Step, Symbol, Tile

Board = int

SYMBOLS: Final[tuple[Symbol, ...]] = get_args(Symbol)  # in the fixed order of the lanes
LANES = 6
RANKS = 6
LANE = (1 << RANKS) - 1  # the six tiles of lane 0
PIECES = 9  # per player
HAND = 9  # cards per player and round
ROUND = 2 * HAND  # turns of both players

# The whole deck in the order in which it is handed to a shuffle. Storage format: recorded luck
# holds indices into it.
DECK: Final = tuple(range(len(SYMBOLS))) * 9

CARD_OF: Final[dict[str, int]] = {symbol: card for card, symbol in enumerate(SYMBOLS)}

TILES: Final[tuple[Tile, ...]] = tuple((lane, rank) for lane in range(LANES) for rank in range(1, RANKS + 1))
INDEX_OF: Final[dict[Tile, int]] = {tile: index for index, tile in enumerate(TILES)}


def board(tiles: Iterable[Tile]) -> Board:
    """The board with exactly these tiles set."""
    return sum(1 << INDEX_OF[tile] for tile in tiles)


def tiles_of(board: Board) -> list[Tile]:
    """The tiles that are set, lane by lane and in each by rank."""
    return [tile for index, tile in enumerate(TILES) if board >> index & 1]


ALL: Final = board(TILES)
START_ROW: Final = (board((lane, 1) for lane in range(LANES)), board((lane, RANKS) for lane in range(LANES)))
LAST_ROW: Final = START_ROW[::-1]


def forward(board: Board, seat: int) -> Board:
    """Every tile moved one rank ahead for `seat`; what would leave the board is dropped."""
    ahead = board & ~LAST_ROW[seat]
    return ahead >> 1 if seat else ahead << 1


def backward(board: Board, seat: int) -> Board:
    """Every tile moved one rank back for `seat`; what would leave the board is dropped."""
    return forward(board, 1 - seat)


def lane_up(board: Board) -> Board:
    """Every tile moved one lane in direction +1, round the ring."""
    return (board << RANKS | board >> RANKS * (LANES - 1)) & ALL


def lane_down(board: Board) -> Board:
    """Every tile moved one lane in direction -1, round the ring."""
    return (board >> RANKS | board << RANKS * (LANES - 1)) & ALL


class Menu(NamedTuple):
    """The plays of one card that end in one lane, each by a set of ranks (6 bits, rank 1 lowest).

    `advance`: by the ranks started from; the others by the ranks that the piece ends on.
    """

    advance: tuple[tuple[Play, ...], ...]
    shift_down: tuple[tuple[Play, ...], ...]
    shift_up: tuple[tuple[Play, ...], ...]
    enter: tuple[tuple[Play, ...], ...]


def _by_ranks(symbol: Symbol, step_at: Callable[[int], Step]) -> tuple[tuple[Play, ...], ...]:
    plays = [Play(symbol, step_at(rank)) for rank in range(1, RANKS + 1)]
    return tuple(
        tuple(play for bit, play in enumerate(plays) if ranks >> bit & 1) for ranks in range(1 << RANKS)
    )


def _menu(symbol: Symbol, lane: int) -> Menu:
    above, below = (lane + 1) % LANES, (lane - 1) % LANES
    return Menu(
        _by_ranks(symbol, lambda rank: Advance((lane, rank))),
        _by_ranks(symbol, lambda rank: Shift((above, rank), -1)),
        _by_ranks(symbol, lambda rank: Shift((below, rank), 1)),
        _by_ranks(symbol, lambda rank: Enter((lane, rank))),
    )


# By lane, then by card: a lane may hold any symbol when the lanes are shuffled.
MENUS: Final = tuple(tuple(_menu(symbol, lane) for symbol in SYMBOLS) for lane in range(LANES))
DISCARDS: Final = tuple(Discard(symbol) for symbol in SYMBOLS)  # by card
