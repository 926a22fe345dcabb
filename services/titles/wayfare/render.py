"""A view as a text board: White's pieces are capitals, Black's small; G is a guide, A an adventurer."""

from .points import Point
from .view import Side, View


def render(view: View) -> str:
    """Three lines of facts at most, then a row of the hexagon per line; its first q stands behind it."""
    symbols = {**_symbols(view.sides[0], "G", "A"), **_symbols(view.sides[1], "g", "a")}
    reach = view.size - 1
    rows = [_row(symbols, reach, r) for r in range(-reach, view.size)]
    return "\n".join((_turn(view), _leader(view), *rows))


def _turn(view: View) -> str:
    if view.turn is None:
        return f"after {view.ply} moves nobody can move"
    colour = view.sides[view.turn].colour
    forced = f"; {view.sides[1 - view.turn].colour} had no move and passed" if view.passed else ""
    return f"after {view.ply} moves {colour} is to move{forced}"


def _leader(view: View) -> str:
    if view.leader is None:
        return "no ring decides: level"
    return f"ring {view.deciding_ring} decides for {view.sides[view.leader].colour}"


def _symbols(side: Side, guide: str, adventurer: str) -> dict[Point, str]:
    return dict.fromkeys(side.guides, guide) | dict.fromkeys(side.adventurers, adventurer)


def _row(symbols: dict[Point, str], reach: int, r: int) -> str:
    first, last = max(-reach, -reach - r), min(reach, reach - r)
    points = " ".join(symbols.get((q, r), ".") for q in range(first, last + 1))
    return f"{'r=' + str(r):>5} {' ' * abs(r)}{points}{' ' * abs(r)} q={first}..{last}"
