"""Where a single piece can go: guides pass, adventurers follow. Points are bits, see `components`."""

from .components import Geometry
from .points import Point

# What an adventurer follows, as three masks: the points next to a followed piece ("in contact"), those of
# them that are empty and may be crossed, and all points of the board where it may not stop.
Trail = tuple[int, int, int]


def guide_landings(board: Geometry, occupied: int, enemy_guides: int, start: int) -> list[Point]:
    """The points that a guide at `start` may move to.

    In each direction the first piece met must be an enemy guide; every empty point behind it, up to the
    next piece, is open as far as it lies inward.
    """
    landings: list[Point] = []
    for points, rising, places, step, behind in board.rays[start]:
        if points & enemy_guides:
            met = points & occupied
            passed = met & -met if rising else 1 << met.bit_length() - 1
            if passed & enemy_guides:
                met ^= passed
                stop = step[met & -met if rising else 1 << met.bit_length() - 1] if met else None
                landings += places[behind[passed] : stop]
    return landings


def guide_passed(board: Geometry, enemy_guides: int, start: int, end: int) -> int:
    """The guide between the two ends of a legal guide move."""
    low, high = (start, end) if start < end else (end, start)
    line = next(ray.points for ray in board.rays[start] if ray.points & end)
    return line & enemy_guides & high - (low << 1)


def trail(board: Geometry, occupied: int, followed: int, capturable: int) -> Trail:
    """`followed`: the mover's pieces of a kind, the traveller not counted. `capturable`: the enemy's."""
    contact = board.beside(followed)
    return contact, contact & ~occupied, contact | occupied & ~capturable


def journey_ends(board: Geometry, along: Trail, start: int) -> int:
    """The points where an adventurer at `start` may stop.

    The journey runs over empty points in contact and ends on the first point out of contact, which is
    empty or captured. Contact begins at the start, or else with the first step.
    """
    contact, free, closed = along
    frontier = start & contact or board.near[start] & free
    if not frontier:
        return 0
    landing = board.inward[start] & ~closed
    return board.shore(frontier, free) & landing if landing else 0
