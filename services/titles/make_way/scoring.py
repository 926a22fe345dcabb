"""What pieces are worth: the tiles of their lane, their own included, back to the nearest opponent behind."""

from typing import Final

from services.titles.make_way.components import LANE, LANES, RANKS, Board

LaneScores = tuple[tuple[int, int], ...]
"""(rank, score) of each piece of a seat in a lane, by rank."""


def _lane_scores(seat: int, own: int, opponents: int) -> LaneScores:
    """Both sets of ranks are 6 bits, rank 1 lowest."""
    return tuple((rank, _score(seat, rank, opponents)) for rank in range(1, RANKS + 1) if own >> rank - 1 & 1)


def _score(seat: int, rank: int, opponents: int) -> int:
    if seat == 0:
        behind = opponents & (1 << rank - 1) - 1
        return rank - behind.bit_length()
    behind = opponents >> rank
    nearest = behind & -behind
    return nearest.bit_length() or RANKS + 1 - rank


# By seat, then by the ranks of its own pieces and of the opponent's: 729 ways to fill a lane.
LANE_SCORES: Final = tuple(
    {
        (own, opponents): _lane_scores(seat, own, opponents)
        for own in range(1 << RANKS)
        for opponents in range(1 << RANKS)
        if not own & opponents
    }
    for seat in (0, 1)
)


def totals(boards: tuple[Board, Board]) -> tuple[int, int]:
    """Both players' totals, by seat."""
    return _total(boards, 0), _total(boards, 1)


def _total(boards: tuple[Board, Board], seat: int) -> int:
    own, opponents = boards[seat], boards[1 - seat]
    lanes = [(own >> RANKS * lane & LANE, opponents >> RANKS * lane & LANE) for lane in range(LANES)]
    return sum([score for ranks in lanes for _, score in LANE_SCORES[seat][ranks]])
