"""What pieces are worth: the tiles of their lane, their own included, back to the nearest opponent behind."""

from services.titles.make_way.components import INDEX_OF, RANKS, Board, tiles_of
from services.titles.make_way.moves import Tile

_LANE = (1 << RANKS) - 1


def score(boards: tuple[Board, Board], seat: int, tile: Tile) -> int:
    """The score of a piece of `seat` on `tile`, 1 to 6. Own pieces on the way do not count against it."""
    lane, rank = tile
    opponents = boards[1 - seat] >> INDEX_OF[lane, 1] & _LANE
    if seat == 0:
        behind = opponents & (1 << rank - 1) - 1
        return rank - behind.bit_length()
    behind = opponents >> rank
    nearest = behind & -behind
    return nearest.bit_length() or RANKS + 1 - rank


def totals(boards: tuple[Board, Board]) -> tuple[int, int]:
    """Both players' totals, by seat."""
    red, blue = (sum(score(boards, seat, tile) for tile in tiles_of(boards[seat])) for seat in (0, 1))
    return red, blue
