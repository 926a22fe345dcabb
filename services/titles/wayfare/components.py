"""The hexagonal board: its points and lines as tables of bit masks, computed once per size.

Inside the rules a point is an int with a single bit set, and a set of points is the sum of their bits.
Written as a binary number, a set reads like the board: row by row from the least r, each row from the
least q. A row is one bit wider than the board, so that a step over its edge lands on a bit that is never
on the board.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from .points import DIRECTIONS, Point, line_distance, ray_from, ring, whole_board


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
    `bit_of`, `point_of`: a point's bit and back, in board order: as a set reads, see above.
    `near`: the up to six neighbours of a bit. `around`: all points within two steps, itself included.
    `inward`: the points where a move that starts at a bit may end, by ring and central line alone.
    `rays`: from a bit, the directions in which a guide could ever land inward behind another.
    `rings`: the mask of each ring, centre first. `potential`: the rank of a bit's (ring, line distance).
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.stride = 2 * size
        self.bit_of = {point: 1 << self._number(point) for point in whole_board(size)}
        self.point_of = {bit: point for point, bit in self.bit_of.items()}
        self.points = sum(self.point_of)
        self._numbered = [self.point_of.get(1 << n, (0, 0)) for n in range(self.points.bit_length())]
        self.rings = tuple(self.mask(p for p in self.bit_of if ring(p) == d) for d in range(size))
        self.near = {bit: self.beside(bit) for bit in self.point_of}
        self.around = {bit: self.beside(near) | near | bit for bit, near in self.near.items()}
        self.potential = self._ranks()
        self.inward = self._inward()
        self.rays = {bit: tuple(self._rays(point, bit)) for bit, point in self.point_of.items()}

    def mask(self, points: Iterable[Point]) -> int:
        """Different points as one set."""
        return sum(self.bit_of[point] for point in points)

    def beside(self, points: int) -> int:
        """All points with a neighbour among `points`; those themselves only where they adjoin each other."""
        slant = self.stride - 1
        west, east = points << 1, points >> 1
        return (west | east | (west | points) << slant | (east | points) >> slant) & self.points

    def shore(self, frontier: int, free: int) -> int:
        """All points on or next to the ways that lead from `frontier` through `free` points."""
        slant = self.stride - 1
        reached = 0
        while frontier:
            # The six neighbours and the points themselves, in nine operations on long ints.
            west, east = frontier << 1, frontier >> 1
            edge = west | east | (west | frontier) << slant | (east | frontier) >> slant
            reached |= edge
            frontier = edge & free
            free ^= frontier
        return reached

    def listed(self, points: int) -> list[Point]:
        """The points of a mask in board order."""
        numbered = self._numbered
        found = []
        while points:
            number = points.bit_length() - 1
            points ^= 1 << number
            found.append(numbered[number])
        return found

    def _number(self, point: Point) -> int:
        q, r = point
        return (self.size - 1 - r) * self.stride + self.size - 1 - q

    def _ranks(self) -> dict[int, int]:
        worth = {bit: (ring(point), line_distance(point)) for bit, point in self.point_of.items()}
        ranks = {pair: rank for rank, pair in enumerate(sorted(set(worth.values())))}
        return {bit: ranks[pair] for bit, pair in worth.items()}

    def _inward(self) -> dict[int, int]:
        # A move must lower (ring, line distance), compared in this order: exactly a lower rank.
        of_rank = [0] * len(self.potential)
        for bit, rank in self.potential.items():
            of_rank[rank] |= bit
        below = list(accumulate(of_rank, initial=0))
        return {bit: below[rank] for bit, rank in self.potential.items()}

    def _rays(self, point: Point, bit: int) -> Iterator[Ray]:
        for direction in DIRECTIONS:
            line = ray_from(point, direction, self.size)
            inward = [step for step, place in enumerate(line) if self.bit_of[place] & self.inward[bit]]
            if inward and inward[-1]:
                yield self._ray(line[: inward[-1] + 1], inward[0], bit)

    def _ray(self, places: tuple[Point, ...], first_inward: int, bit: int) -> Ray:
        step = {self.bit_of[place]: n for n, place in enumerate(places)}
        behind = {place: max(n + 1, first_inward) for place, n in step.items()}
        return Ray(sum(step), min(step) > bit, places, step, behind)


@cache
def geometry(size: int) -> Geometry:
    """The one board of this size."""
    return Geometry(size)


def bits(points: int) -> Iterator[int]:
    """The points of a mask one by one, in board order."""
    while points:
        bit = 1 << points.bit_length() - 1
        points ^= bit
        yield bit
