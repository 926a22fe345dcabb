"""What pieces are worth: the tiles of their lane, their own included, back to the nearest opponent behind."""

from collections.abc import Iterator
from typing import Final

from services.titles.make_way.components import LANES, RANKS, Board
from services.titles.make_way.moves import Tile

_LANE = (1 << RANKS) - 1


def _lane_scores(seat: int, own: int, opponents: int) -> tuple[tuple[int, int], ...]:
    """(rank, score) of each piece of `seat` in a lane; both sets of ranks are 6 bits, rank 1 lowest."""
    return tuple((rank, _score(seat, rank, opponents)) for rank in range(1, RANKS + 1) if own >> rank - 1 & 1)


def _score(seat: int, rank: int, opponents: int) -> int:
    if seat == 0:
        behind = opponents & (1 << rank - 1) - 1
        return rank - behind.bit_length()
    behind = opponents >> rank
    nearest = behind & -behind
    return nearest.bit_length() or RANKS + 1 - rank


# By seat, then by the ranks of its own pieces and of the opponent's: 729 ways to fill a lane.
_LANE_SCORES: Final = tuple(
    {
        (own, opponents): _lane_scores(seat, own, opponents)
        for own in range(1 << RANKS)
        for opponents in range(1 << RANKS)
        if not own & opponents
    }
    for seat in (0, 1)
)


def scored(boards: tuple[Board, Board], seat: int) -> Iterator[tuple[Tile, int]]:
    """Each piece of `seat` with its score, 1 to 6: lane by lane, in each by rank."""
    own, opponents = boards[seat], boards[1 - seat]
    by_lane = _LANE_SCORES[seat]
    for lane in range(LANES):
        for rank, score in by_lane[own & _LANE, opponents & _LANE]:
            yield (lane, rank), score
        own >>= RANKS
        opponents >>= RANKS


def totals(boards: tuple[Board, Board]) -> tuple[int, int]:
    """Both players' totals, by seat."""
    red, blue = (sum(score for _, score in scored(boards, seat)) for seat in (0, 1))
    return red, blue
