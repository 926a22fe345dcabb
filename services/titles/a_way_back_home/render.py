"""A view as text: one line per path, the crystals by their letters, an empty space as a dot."""

from services.titles.a_way_back_home.components import COLOURS, LETTERS, PATHS
from services.titles.a_way_back_home.moves import CrystalName, PathName
from services.titles.a_way_back_home.view import PlayerView, View

_LETTERS: dict[CrystalName, str] = dict(zip(COLOURS, LETTERS, strict=True))


def render(view: View) -> str:
    """What the view holds, for terminals, logs and tests. Shared spaces show on both their paths."""
    boards = (_board(view, seat, player) for seat, player in enumerate(view.players))
    return "\n\n".join(["\n".join(_table(view)), *boards])


def _table(view: View) -> list[str]:
    lines = [f"Side {view.side}. {_whose_turn(view)}"]
    if view.passed:
        lines.append("had to pass: " + ", ".join(f"seat {seat}" for seat in view.passed))
    if view.declared_by is not None:
        lines.append(f"seat {view.declared_by} declared the end")
    if view.character:
        lines.append(f"{view.character.name} ({view.character.building} building): {view.character.where}")
    pool = " ".join(f"{colour} {count}" for colour, count in view.pool.items() if count)
    lines.append(f"pool: {pool or 'empty'}; take: {view.take}")
    if view.drawn:
        lines.append("drawn: " + " ".join(view.drawn))
    return lines


def _whose_turn(view: View) -> str:
    return f"Over: {view.ending}." if view.turn is None else f"Seat {view.turn} is to {view.phase}."


def _board(view: View, seat: int, player: PlayerView) -> str:
    bag = "" if player.bag_count is None else f", {player.bag_count} in the bag"
    paths = (_path(view, player, path) for path in PATHS)
    return "\n".join([f"seat {seat}: {player.score} points{bag}", *paths])


def _path(view: View, player: PlayerView, path: PathName) -> str:
    spaces = view.layout.paths[path]
    crystals = (_LETTERS[player.board[space]] if space in player.board else "." for space in spaces)
    return f"  {path:<7} {' '.join(crystals)}  {player.points[path]:>3}"
