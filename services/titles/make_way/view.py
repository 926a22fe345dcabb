"""What a seat, or a spectator, may know: everything but the hands of others and the order of the deck."""

from functools import lru_cache
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from services.titles.make_way.components import LANE, LANES, RANKS, SYMBOLS, TILES, Board
from services.titles.make_way.moves import Symbol, Tile
from services.titles.make_way.rules import is_stuck
from services.titles.make_way.scoring import LANE_SCORES, LaneScores
from services.titles.make_way.state import State

Seat = Annotated[int, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]
BySeat = Annotated[tuple[Count, Count], Meta(description="Of seat 0 and of seat 1.")]


class Piece(Struct, frozen=True):
    """A piece on the board."""

    seat: Seat
    tile: Tile
    score: Annotated[int, Meta(ge=1, le=6, description="The points it would bring if the game ended now.")]


class Cards(Struct, frozen=True):
    """How many cards of each symbol."""

    drop: Count
    wheel: Count
    hammers: Count
    bricks: Count
    circles: Count
    arrow: Count


class View(Struct, frozen=True, kw_only=True):
    """The table as one viewer sees it."""

    lanes: Annotated[tuple[Symbol, ...], Meta(min_length=6, max_length=6, description="By lane, 0 to 5.")]
    rounds: Annotated[Literal[3, 4], Meta(description="How many rounds are played.")]
    round: Annotated[int, Meta(ge=1, le=4, description="Counted from 1.")]
    ply: Annotated[int, Meta(ge=0, le=72, description="Turns taken so far, by both; 18 a round.")]
    turn: Annotated[Seat | None, Meta(description="Whose turn it is; null after the end.")]
    board: Annotated[tuple[Piece, ...], Meta(description="Seat 0's pieces first; the rest is empty.")]
    supply: Annotated[BySeat, Meta(description="Pieces not yet on the board, by seat.")]
    scores: Annotated[BySeat, Meta(description="Totals if the game ended now, by seat.")]
    hand_sizes: Annotated[BySeat, Meta(description="Cards in hand, by seat.")]
    spent: Annotated[
        tuple[Cards, Cards], Meta(description="Cards spent since the deck was last shuffled, by seat.")
    ]
    deck_size: Annotated[Count, Meta(description="Cards not yet dealt.")]
    hand: Annotated[Cards | None, Meta(description="The viewer's own hand; null for a spectator.")]
    must_discard: Annotated[
        bool, Meta(description="Told to the seat to move alone: none of its cards can be played.")
    ]


def view(state: State, viewer: int | None) -> View:
    """`state` through the eyes of `viewer`; None is a spectator."""
    table = _table(state)
    if viewer is None:
        return table
    return replace(table, hand=Cards(*state.hands[viewer]), must_discard=is_stuck(state, viewer))


# A position is shown to every audience in turn; only hands differ.
@lru_cache(maxsize=256)
def _table(state: State) -> View:
    """What everybody may know."""
    board, scores = _standing(state.boards)
    return View(
        lanes=tuple(SYMBOLS[card] for card in state.lanes),
        rounds=state.rounds,
        round=state.round,
        ply=state.ply,
        turn=None if state.is_over else state.turn,
        board=board,
        supply=state.supply,
        scores=scores,
        hand_sizes=(sum(state.hands[0]), sum(state.hands[1])),
        spent=(Cards(*state.spent[0]), Cards(*state.spent[1])),
        deck_size=len(state.deck),
        hand=None,
        must_discard=False,
    )


def _standing(boards: tuple[Board, Board]) -> tuple[tuple[Piece, ...], BySeat]:
    """All pieces on the board, and both totals."""
    red, blue = boards
    reds, red_total = _pieces(0, red, blue)
    blues, blue_total = _pieces(1, blue, red)
    return (*reds, *blues), (red_total, blue_total)


def _pieces(seat: int, own: Board, opponents: Board) -> tuple[list[Piece], int]:
    """The pieces of `seat`, lane by lane, and what they score together."""
    pieces: list[Piece] = []
    total = 0
    for in_lane in _IN_LANE[seat]:
        if ranks := own & LANE:
            found, score = in_lane[ranks, opponents & LANE]
            pieces += found
            total += score
        own >>= RANKS
        opponents >>= RANKS
    return pieces, total


def _shown(seat: int, lane: int, scores: LaneScores) -> tuple[tuple[Piece, ...], int]:
    pieces = tuple([_PIECES[seat, (lane, rank), score] for rank, score in scores])
    return pieces, sum([score for _, score in scores])


_PIECES: Final = {
    (seat, tile, score): Piece(seat, tile, score)
    for seat in (0, 1)
    for tile in TILES
    for score in range(1, RANKS + 1)
}
# By seat and lane, then by the ranks of the seat's pieces and of the opponent's there.
_IN_LANE: Final = tuple(
    tuple(
        {ranks: _shown(seat, lane, scores) for ranks, scores in LANE_SCORES[seat].items()}
        for lane in range(LANES)
    )
    for seat in (0, 1)
)
