"""Points by their coordinates: rings, central lines and straight lines of a hexagonal board.

A point is axial `(q, r)`, on a board of `size` points a side where its ring is below `size`.
"""

from collections.abc import Iterator
from itertools import takewhile

Point = tuple[int, int]

# The six straight directions, counter-clockwise; corner k of ring d is d * DIRECTIONS[k].
DIRECTIONS: tuple[Point, ...] = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))


def ring(point: Point) -> int:
    """Steps to the centre: 0 there, size-1 on the edge."""
    q, r = point
    return max(abs(q), abs(r), abs(q + r))


def line_distance(point: Point) -> int:
    """Steps to the nearest of the three straight lines through the centre."""
    q, r = point
    return min(abs(q), abs(r), abs(q + r))


def neighbours(point: Point, size: int) -> list[Point]:
    """The three to six points next to this one on a board of `size`."""
    steps = ((point[0] + q, point[1] + r) for q, r in DIRECTIONS)
    return [place for place in steps if ring(place) < size]


def straight(start: Point, end: Point) -> list[Point] | None:
    """The points strictly between two points of one straight line; None when no line joins them."""
    q, r = end[0] - start[0], end[1] - start[1]
    steps = max(abs(q), abs(r), abs(q + r))
    if not steps or 0 not in (q, r, q + r):
        return None
    return [(start[0] + i * q // steps, start[1] + i * r // steps) for i in range(1, steps)]


def side(d: int, k: int) -> Iterator[Point]:
    """The d-1 points of ring d strictly between its corners k and k+1, in that order."""
    (q, r), (next_q, next_r) = DIRECTIONS[k], DIRECTIONS[(k + 1) % 6]
    return ((d * q + i * (next_q - q), d * r + i * (next_r - r)) for i in range(1, d))


def whole_board(size: int) -> Iterator[Point]:
    """All points, row by row from the least r, each row from the least q."""
    reach = range(1 - size, size)
    return ((q, r) for r in reach for q in reach if abs(q + r) < size)


def ray_from(point: Point, direction: Point, size: int) -> tuple[Point, ...]:
    """The points from the neighbour of `point` to the edge of the board, in one of the six directions."""
    line = ((point[0] + i * direction[0], point[1] + i * direction[1]) for i in range(1, 2 * size))
    return tuple(takewhile(lambda place: ring(place) < size, line))
