"""What an audience may see. Everything is public but the bags: their number of crystals is its
owner's secret, and what is in them is shown to nobody."""

from functools import cache
from typing import Literal

from msgspec import Struct

from services.titles.a_way_back_home import board
from services.titles.a_way_back_home.components import CHARACTERS, COLOURS, PATHS, SIDES
from services.titles.a_way_back_home.moves import CrystalName, Move, PathName, TakeName
from services.titles.a_way_back_home.rules import scores
from services.titles.a_way_back_home.state import IN_BOX, IN_POOL, Cells, Counts, Ending, Phase, State, Tile
from services.titles.a_way_back_home.takes import in_force


class LayoutView(Struct, frozen=True):
    """The printed board, the same for all players.

    `paths`: the spaces of each path from the centre; one named on two paths is shared. `values`: score of
    a path by its front, the goal last. `zero`: the front that is the zero-point space. `building`: the
    front on a building, Side B only. `drawing`: where space k of a path lies, as radius and degrees
    clockwise from the path's own direction, the goal last; path number i points to 60 * i degrees.
    """

    paths: dict[PathName, tuple[str, ...]]
    values: tuple[int, ...]
    zero: int
    building: int | None
    drawing: tuple[tuple[float, float], ...]


class PlayerView(Struct, frozen=True):
    """One seat. `board`: the crystal on each lit space. `fronts`: first empty space of each path, from 0.
    `points`: what each path scores now. `score`: their sum, and 1 for the character tile.
    `turns_taken`: passes included. `bag_count`: crystals in the bag; null but for its owner.
    """

    board: dict[str, CrystalName]
    fronts: dict[PathName, int]
    points: dict[PathName, int]
    score: int
    turns_taken: int
    bag_count: int | None


class CharacterView(Struct, frozen=True):
    """The character of the match. `building`: the path whose building it looks for. `take`: what taking is
    while it lies in the pool. `where`: "pool", "box" or "player:<seat>".
    """

    id: int
    name: str
    building: PathName
    take: TakeName
    where: str


class View(Struct, frozen=True, kw_only=True):
    """A position. `start`: the seat that began. `turn`: the seat to move, null after the end.
    `passed`: the seats, in order, that had to pass just before this turn or the end. `pool`: by colour.
    `drawn`: the crystals to be placed, null unless they wait. `take`: the take action in force.
    `declared_by`: the seat that declared the end. `ending`: why the game is over. `players`: by seat.
    """

    side: Literal["A", "B"]
    phase: Phase
    start: int
    turn: int | None
    passed: tuple[int, ...]
    pool: dict[CrystalName, int]
    drawn: tuple[CrystalName, ...] | None
    take: TakeName
    character: CharacterView | None
    declared_by: int | None
    ending: Ending | None
    players: tuple[PlayerView, ...]
    layout: LayoutView


def view(state: State, seat: int | None) -> View:
    """The position for `seat`; None is a spectator, who learns the size of no bag."""
    ending = state.ending
    first_passed = state.turn - state.passes
    return View(
        side=state.side,
        phase=state.phase,
        start=state.start,
        turn=None if ending else state.turn,
        passed=tuple(passed % state.players for passed in range(first_passed, state.turn)),
        pool=dict(zip(COLOURS, state.pool, strict=True)),
        drawn=tuple(COLOURS[colour] for colour in state.drawn) if state.drawn else None,
        take=in_force(state),
        character=_character(state.tile) if state.tile else None,
        declared_by=state.declared_by,
        ending=ending,
        players=_players(state, seat),
        layout=_layout(state.side),
    )


def redact(move: Move, by: int, viewer: int | None) -> Move | None:
    """Every move is made in the open."""
    return move


def _players(state: State, viewer: int | None) -> tuple[PlayerView, ...]:
    points = scores(state)
    return tuple(
        _player(state, seat, points[seat], bag if seat == viewer else None)
        for seat, bag in enumerate(state.bags)
    )


def _player(state: State, seat: int, score: int, bag: Counts | None) -> PlayerView:
    side, cells = state.layout, state.boards[seat]
    fronts = board.fronts(side, cells)
    before_me = (seat - state.start) % state.players
    return PlayerView(
        board=_crystals(side.spaces, cells),
        fronts=dict(zip(PATHS, fronts, strict=True)),
        points={path: side.values[front] for path, front in zip(PATHS, fronts, strict=True)},
        score=score,
        turns_taken=(state.turns - before_me + state.players - 1) // state.players,
        bag_count=None if bag is None else sum(bag),
    )


def _crystals(spaces: tuple[str, ...], cells: Cells) -> dict[str, CrystalName]:
    return {space: COLOURS[cell - 1] for space, cell in zip(spaces, cells, strict=True) if cell}


def _character(tile: Tile) -> CharacterView:
    character = CHARACTERS[tile.character]
    where = {IN_POOL: "pool", IN_BOX: "box"}.get(tile.where, f"player:{tile.where}")
    return CharacterView(tile.character, character.name, character.building, character.take, where)


@cache
def _layout(name: Literal["A", "B"]) -> LayoutView:
    side = SIDES[name]
    paths = {
        name: tuple(side.spaces[space] for space in path)
        for name, path in zip(PATHS, side.paths, strict=True)
    }
    return LayoutView(paths, side.values, side.zero, side.building, side.drawing)
