"""The hexagonal board: its points and lines as tables of bit masks, computed once per size.

A point is axial `[q, r]`, on the board where `max(|q|, |r|, |q+r|) <= size-1`. Inside the rules it is an
int with a single bit set, and a set of points is the sum of their bits: bit number
`(r+size-1) * 2*size + (q+size-1)`. A row is one bit wider than the board, so that a step over its
edge lands on a bit that is never on the board.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

Point = tuple[int, int]

# The six straight directions, counter-clockwise; corner k of ring d is d * DIRECTIONS[k].
DIRECTIONS: tuple[Point, ...] = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))


class Ray(NamedTuple):
    """What lies before a guide in one direction, as far as the last point where it could land inward.

    `points`: the mask of `places`, which has the nearest first. `rising`: whether bits grow with distance,
    so that the nearest is the lowest. `step`: a bit's index in `places`. `behind`: the index of the first
    place that is open once the guide on this bit is passed. From there on all places lie inward, since
    rings, and on a ring line distances, first fall and then rise along a line.
    """

    points: int
    rising: bool
    places: tuple[Point, ...]
    step: dict[int, int]
    behind: dict[int, int]


class Geometry:
    """A board of `size` points a side. Keys named `bit` are points as single bits.

    `points`: the mask of all points. `stride`: how far the bits of [q, r] and [q, r+1] lie apart.
    `bit_of`, `point_of`: a point's bit and back, rows from r = -(size-1), each from its smallest q.
    `near`: the up to six neighbours of a bit. `around`: all points within two steps, itself included.
    `inward`: the points where a move that starts at a bit may end, by ring and central line alone.
    `rays`: from a bit, the directions in which a guide could ever land inward behind another.
    `rings`: the mask of each ring, centre first. `potential`: the rank of a bit's (ring, line distance).
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.stride = 2 * size
        self.bit_of = {point: 1 << self._number(point) for point in _points(size)}
        self.point_of = {bit: point for point, bit in self.bit_of.items()}
        self.points = sum(self.point_of)
        self.rings = tuple(sum(self._bits(_ring(d))) for d in range(size))
        self.near = {bit: self.beside(bit) for bit in self.point_of}
        self.around = {bit: self.beside(near) | near | bit for bit, near in self.near.items()}
        self.potential = self._ranks()
        self.inward = self._inward()
        self.rays = {bit: tuple(self._rays(point, bit)) for bit, point in self.point_of.items()}

    def beside(self, points: int) -> int:
        """All points with a neighbour among `points`; those themselves only where they adjoin each other."""
        slant = self.stride - 1
        east, west = points << 1, points >> 1
        return (east | west | (east | points) << slant | (west | points) >> slant) & self.points

    def shore(self, frontier: int, free: int) -> int:
        """All points on or next to the ways that lead from `frontier` through `free` points."""
        slant = self.stride - 1
        reached = 0
        while frontier:
            # The six neighbours and the points themselves, in nine operations on long ints.
            east, west = frontier << 1, frontier >> 1
            edge = east | west | (east | frontier) << slant | (west | frontier) >> slant
            reached |= edge
            frontier = edge & free
            free ^= frontier
        return reached

    def listed(self, points: int) -> list[Point]:
        """The points of a mask in board order."""
        point_of = self.point_of
        return [point_of[bit] for bit in bits(points)]

    def _number(self, point: Point) -> int:
        q, r = point
        return (r + self.size - 1) * self.stride + q + self.size - 1

    def _bits(self, points: Iterator[Point]) -> Iterator[int]:
        return (self.bit_of[point] for point in points)

    def _ranks(self) -> dict[int, int]:
        worth = {bit: (ring(point), line_distance(point)) for bit, point in self.point_of.items()}
        ranks = {pair: rank for rank, pair in enumerate(sorted(set(worth.values())))}
        return {bit: ranks[pair] for bit, pair in worth.items()}

    def _inward(self) -> dict[int, int]:
        # A move must lower (ring, line distance), compared in this order: exactly a lower rank.
        below = [
            sum(bit for bit, rank in self.potential.items() if rank < limit)
            for limit in range(3 * self.size**2)
        ]
        return {bit: below[rank] for bit, rank in self.potential.items()}

    def _rays(self, point: Point, bit: int) -> Iterator[Ray]:
        for direction in DIRECTIONS:
            line = list(_straight(point, direction, self.size))
            inward = [step for step, place in enumerate(line) if self.bit_of[place] & self.inward[bit]]
            if inward and inward[-1]:
                yield self._ray(tuple(line[: inward[-1] + 1]), inward[0], bit)

    def _ray(self, places: tuple[Point, ...], first_inward: int, bit: int) -> Ray:
        step = {self.bit_of[place]: n for n, place in enumerate(places)}
        behind = {place: max(n + 1, first_inward) for place, n in step.items()}
        return Ray(sum(step), min(step) > bit, places, step, behind)


@cache
def geometry(size: int) -> Geometry:
    """The one board of this size."""
    return Geometry(size)


def bits(points: int) -> list[int]:
    """The points of a mask one by one, in board order."""
    found = []
    while points:
        bit = points & -points
        points ^= bit
        found.append(bit)
    return found


def ring(point: Point) -> int:
    """Steps to the centre: 0 there, size-1 on the edge."""
    q, r = point
    return max(abs(q), abs(r), abs(q + r))


def line_distance(point: Point) -> int:
    """Steps to the nearest of the three straight lines through the centre."""
    q, r = point
    return min(abs(q), abs(r), abs(q + r))


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


def _points(size: int) -> Iterator[Point]:
    reach = range(1 - size, size)
    return ((q, r) for r in reach for q in reach if abs(q + r) < size)


def _ring(d: int) -> Iterator[Point]:
    return (point for point in _points(d + 1) if ring(point) == d)


def _straight(point: Point, direction: Point, size: int) -> Iterator[Point]:
    q, r = point
    while ring((q := q + direction[0], r := r + direction[1])) < size:
        yield q, r
