"""The boards and characters, read from seeds/a_way_back_home and checked once, at import.

Colours are counted from 0 in clockwise order of their paths; `WILD` is the seventh. A path has
the index of its colour. A space is an index into `Side.spaces`.
"""

import tomllib
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from services.core.title import component_data
from services.titles.a_way_back_home.moves import CrystalName, PathName, TakeName

SLUG = "a_way_back_home"

COLOURS: tuple[CrystalName, ...] = get_args(CrystalName)
PATHS: tuple[PathName, ...] = get_args(PathName)
WILD = 6
LETTERS = "gpukobw"  # by colour; the spaces are named with them too
COLOUR_OF = {name: colour for colour, name in enumerate(COLOURS)}

COLOUR_CRYSTALS = 5  # of each of the six colours, per player
WILD_CRYSTALS = 2  # per player
SPACES = 36  # on either side


class Side(Struct, frozen=True):
    """One side of the board.

    `spaces`: 36 names. `paths`: per path its spaces from the centre; front `goal` lies behind the last.
    `values`: score by front, 0 (not started) to `goal`. `zero`: the zero-point front. `building`: the
    front that is a path's building, where there are any. `drawing`: (radius, degrees) by front.
    """

    spaces: tuple[str, ...]
    paths: tuple[tuple[int, ...], ...]
    goal: int
    values: tuple[int, ...]
    zero: int
    building: int | None
    drawing: tuple[tuple[float, float], ...]


class Character(Struct, frozen=True):
    """Looks for the building of a path; `take` is in force while it lies in the pool."""

    name: str
    building: PathName
    take: TakeName


class SideData(Struct, forbid_unknown_fields=True):
    """A side as the file writes it, which explains the fields."""

    values: tuple[int, ...]
    zero: int
    drawing: tuple[tuple[float, float], ...]
    paths: dict[PathName, tuple[str, ...]]
    building: int | None = None


class _CharacterData(Struct, forbid_unknown_fields=True):
    character: tuple[Character, ...]


def side_of(data: SideData) -> Side:
    """Raises ValueError when the layout is not one that the rules describe."""
    if tuple(data.paths) != PATHS:
        raise ValueError(f"paths are {tuple(data.paths)}, not {PATHS}")
    named = list(data.paths.values())
    goal = len(named[0])
    spaces = tuple(dict.fromkeys(space for path in named for space in path))
    if {len(path) for path in named} != {goal} or len(spaces) != SPACES:
        raise ValueError(f"paths of one length with {SPACES} spaces expected, not {len(spaces)} spaces")
    if len(data.values) != goal or len(data.drawing) != goal + 1 or not 0 < data.zero <= goal:
        raise ValueError("values, drawing and zero do not fit the length of the paths")
    paths = tuple(tuple(map(spaces.index, path)) for path in named)
    _check_intersections(paths, data.building)
    return Side(spaces, paths, goal, (0, *data.values), data.zero, data.building, data.drawing)


def _check_intersections(paths: tuple[tuple[int, ...], ...], building: int | None) -> None:
    turned = paths[1:] + paths[:1]
    once_round: dict[int, int] = {}
    for path, following in zip(paths, turned, strict=True):
        for space, image in zip(path, following, strict=True):
            if once_round.setdefault(space, image) != image:
                raise ValueError("the board looks different when turned by one path")
    every = [space for path in paths for space in path]
    if max(map(every.count, every)) > 2:
        raise ValueError("a space lies on more than two paths")
    if building is not None and any(every.count(path[building]) > 1 for path in paths):
        raise ValueError("a building stands on an intersection")


def _read_sides() -> dict[Literal["A", "B"], Side]:
    data = tomllib.loads(component_data(SLUG, "boards.toml").decode())
    sides = msgspec.convert(data, dict[Literal["A", "B"], SideData])
    return {name: side_of(side) for name, side in sides.items()}


def _read_characters() -> tuple[Character, ...]:
    data = tomllib.loads(component_data(SLUG, "characters.toml").decode())
    return msgspec.convert(data, _CharacterData).character


SIDES = _read_sides()
CHARACTERS = _read_characters()
