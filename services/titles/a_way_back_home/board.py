"""One player's board: where the fronts are, what a crystal lights, what the paths score."""

from services.titles.a_way_back_home.components import Side
from services.titles.a_way_back_home.state import Cells


def front(side: Side, cells: Cells, path: int) -> int:
    """The first empty space of `path`, counted from the centre; `side.goal` when all are lit."""
    for place, space in enumerate(side.paths[path]):
        if not cells[space]:
            return place
    return side.goal


def fronts(side: Side, cells: Cells) -> tuple[int, ...]:
    """The front of every path."""
    return tuple(front(side, cells, path) for path in range(6))


def lit(side: Side, cells: Cells, path: int, crystal: int) -> Cells | None:
    """The board with `crystal` on the front space of `path`; None at the goal, which takes none."""
    for space in side.paths[path]:
        if not cells[space]:
            return cells[:space] + bytes((crystal + 1,)) + cells[space + 1 :]
    return None


def score(side: Side, cells: Cells) -> int:
    """What all paths score; a path whose first space is empty has not started and scores nothing."""
    return sum(side.values[front(side, cells, path)] for path in range(6))


def has_reached_zero(side: Side, cells: Cells) -> bool:
    """Whether the front of some path is at its zero-point space or beyond."""
    return any(front(side, cells, path) >= side.zero for path in range(6))
