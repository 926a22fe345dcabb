"""How ships fly: the next stops, one movement with its jumps, a hyperdrive, and the distance home.

`free` means that arrows are ignored. `others` are the stops where the other ships stand.
"""

from collections.abc import Set as AbstractSet

from services.titles.a_way.components import CARD_OF, FIRST_STATION, OTHER_VORTEX, opposite
from services.titles.a_way.star_map import OVER, StarMap
from services.titles.a_way.tracks import AHEAD, ENTER


def stops(sky: StarMap, at: int, free: bool) -> tuple[int, ...]:
    """The stops reached from `at` without passing another stop, bases included, in rising order."""
    known = sky.stops_found.get((at, free))
    if known is None:
        known = sky.stops_found[at, free] = tuple(sorted(_stops(sky, at, free)))
    return known


def _stops(sky: StarMap, at: int, free: bool) -> set[int]:
    found: set[int] = set()
    leaving: list[tuple[int, int, int]] = []
    if at < FIRST_STATION:
        base = sky.bases[at]
        assert base, "a ship stands on a base that the map has"
        leaving += ((*base, side) for side in range(4))
    else:
        _, x, y, rot = sky.places[CARD_OF[at]]
        _take(AHEAD[free][4 * at + rot], x, y, found, leaving)
        if at in OTHER_VORTEX and CARD_OF[OTHER_VORTEX[at]] in sky.places:
            found.add(OTHER_VORTEX[at])
    done: set[tuple[int, int, int]] = set()
    while leaving:
        edge = leaving.pop()
        if edge in done:
            continue
        done.add(edge)
        x, y, side = edge
        dx, dy = OVER[side]
        x, y = x + dx, y + dy
        entered = sky.cells.get((x, y))
        if entered is None:
            continue
        if entered < FIRST_STATION:
            found.add(entered)
        else:
            _take(ENTER[free][entered - FIRST_STATION][opposite(side)], x, y, found, leaving)
    return found


def _take(
    steps: tuple[int, ...], x: int, y: int, found: set[int], leaving: list[tuple[int, int, int]]
) -> None:
    """Sorts steps on the card at (x, y) into stations found and sides to leave by."""
    for step in steps:
        if step < FIRST_STATION:
            leaving.append((x, y, step))
        else:
            found.add(step)


def destinations(
    sky: StarMap, ship: int, home: int | None, others: AbstractSet[int], free: bool = False
) -> set[int]:
    """Where one movement may end: the next free stations, over occupied ones, or the home base.

    `ship`: the stop where it stands. `home`: None where it may not land on its base.
    """
    found: set[int] = set()
    seen = {ship}
    todo = [ship]
    while todo:
        for stop in stops(sky, todo.pop(), free):
            if stop < FIRST_STATION:
                if stop == home:
                    found.add(stop)
            elif stop not in others:
                found.add(stop)
            elif stop not in seen:
                seen.add(stop)
                todo.append(stop)
    found.discard(ship)
    return found


def hyperdrive(sky: StarMap, ship: int, home: int, others: AbstractSet[int]) -> set[int]:
    """Where a movement by two stations may end; by one station where there is no second.

    The first stop may be occupied, and it may be home, where the movement ends.
    """
    found: set[int] = set()
    for first in stops(sky, ship, False):
        if first == home:
            found.add(home)
        elif first >= FIRST_STATION and first != ship:
            found |= destinations(sky, first, home, others)
    found.discard(ship)
    return found or destinations(sky, ship, home, others)


def distance(sky: StarMap, ship: int, home: int) -> int | None:
    """The fewest movements to `home`, other ships ignored; None where no way leads there."""
    if (ship, home) not in sky.distances_found:
        sky.distances_found[ship, home] = _distance(sky, ship, home)
    return sky.distances_found[ship, home]


def _distance(sky: StarMap, ship: int, home: int) -> int | None:
    reached = {ship}
    edge = [ship]
    movements = 0
    while edge and home not in reached:
        movements += 1
        near = {stop for at in edge for stop in stops(sky, at, False)}
        edge = [stop for stop in near - reached if stop >= FIRST_STATION or stop == home]
        reached.update(edge)
    return movements if home in reached else None
