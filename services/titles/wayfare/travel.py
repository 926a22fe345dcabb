"""Where a single piece can go: guides pass, adventurers follow. Points are bits, see `components`."""

from .components import Geometry, Point


def guide_landings(board: Geometry, occupied: int, enemy_guides: int, start: int) -> list[Point]:
    """The points that a guide at `start` may move to.

    In each direction the first piece met must be an enemy guide; every empty point behind it, up to the
    next piece, is open as far as it lies inward.
    """
    landings: list[Point] = []
    for ray in board.rays[start]:
        points, rising, places, _, _ = ray
        met = points & occupied
        if not met:
            continue
        passed = met & -met if rising else 1 << met.bit_length() - 1
        if not passed & enemy_guides:
            continue
        met ^= passed
        if not met:
            landings += places[ray.behind[passed] :]
        elif rising:
            landings += places[ray.behind[passed] : ray.step[met & -met]]
        else:
            landings += places[ray.behind[passed] : ray.step[1 << met.bit_length() - 1]]
    return landings


def guide_passed(board: Geometry, enemy_guides: int, start: int, end: int) -> int:
    """The guide between the two ends of a legal guide move."""
    low, high = (start, end) if start < end else (end, start)
    line = next(ray.points for ray in board.rays[start] if ray.points & end)
    return line & enemy_guides & high - (low << 1)


def adventurer_landings(board: Geometry, occupied: int, contact: int, capturable: int, start: int) -> int:
    """The points where an adventurer at `start` may end its journey.

    `contact`: the points next to a followed piece, the traveller not counted. `capturable`: enemy pieces
    of the kind followed. The journey runs over empty points in contact and ends on the first point that
    is out of contact, which is empty or captured.
    """
    free = contact & ~occupied
    # Contact begins at the start, or else with the first step.
    frontier = start & contact or board.near[start] & free
    landing = ~(contact | occupied & ~capturable) & board.inward[start]
    return board.shore(frontier, free) & landing if frontier and landing else 0
