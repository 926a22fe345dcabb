"""The boards and characters that are shipped, and layouts that are refused."""

import tomllib
from typing import Any

import msgspec
import pytest

from services.core.title import component_data
from services.titles.a_way_back_home.components import CHARACTERS, PATHS, SIDES, SLUG, SideData, side_of


def named(side: str, path: str) -> list[str]:
    board = SIDES[side]
    return [board.spaces[space] for space in board.paths[PATHS.index(path)]]


def shipped(side: str) -> dict[str, Any]:
    return tomllib.loads(component_data(SLUG, "boards.toml").decode())[side]


@pytest.mark.parametrize(("side", "crossings"), [("A", 6), ("B", 12)])
def test_a_board_has_36_spaces_of_which_the_intersections_are_shared(side: str, crossings: int) -> None:
    board = SIDES[side]
    every = [space for path in board.paths for space in path]
    assert len(board.spaces) == len(set(every)) == 36
    assert sum(every.count(space) == 2 for space in set(every)) == crossings


@pytest.mark.parametrize("path", range(6))
def test_intersections_lie_where_the_rules_put_them(path: int) -> None:
    following = (path + 1) % 6
    a, b = SIDES["A"].paths, SIDES["B"].paths
    assert a[path][4] == a[following][2]
    assert (b[path][3], b[path][5]) == (b[following][2], b[following][6])


def test_paths_are_named_as_in_the_rules() -> None:
    assert named("A", "black") == ["k0", "k1", "R-black", "k3", "R-orange", "k5", "k6"]
    assert named("A", "blue") == ["b0", "b1", "R-blue", "b3", "R-green", "b5", "b6"]
    assert named("B", "green") == ["g0", "g1", "R1-green", "R1-pink", "g4", "R2-pink", "R2-green", "g7"]
    assert named("B", "blue") == ["b0", "b1", "R1-blue", "R1-green", "b4", "R2-green", "R2-blue", "b7"]


def test_values_by_front() -> None:
    assert SIDES["A"].values == (0, -10, -5, 0, 5, 10, 20, 30)
    assert SIDES["B"].values == (0, -10, -15, -5, 0, 5, 10, 20, 30)
    assert (SIDES["A"].zero, SIDES["B"].zero) == (3, 4)
    assert (SIDES["A"].building, SIDES["B"].building) == (None, 4)


@pytest.mark.parametrize("side", ["A", "B"])
def test_an_intersection_is_drawn_at_one_place_from_both_its_paths(side: str) -> None:
    board = SIDES[side]
    places: dict[int, set[tuple[float, float]]] = {}
    for number, path in enumerate(board.paths):
        for space, (radius, degrees) in zip(path, board.drawing, strict=False):
            places.setdefault(space, set()).add((radius, (60 * number + degrees) % 360))
    assert all(len(drawn) == 1 for drawn in places.values())
    assert len(set.union(*places.values())) == 36


def test_characters_and_their_buildings() -> None:
    assert [(one.name, one.building, one.take) for one in CHARACTERS] == [
        ("Pedlar", "green", "any_two"),
        ("Painter", "pink", "one_of_each"),
        ("Hermit", "purple", "scarcest"),
        ("Porter", "black", "any_five"),
        ("Twins", "orange", "two_colours"),
        ("Giant", "blue", "most_frequent"),
    ]


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("values", [-10, 0, 30], "do not fit"),
        ("zero", 9, "do not fit"),
        ("drawing", [[1, 0]], "do not fit"),
        ("building", 3, "on an intersection"),
        ("green", ["g0", "g1"], "spaces expected"),
        ("green", ["g0", "g1", "R1-green", "R1-blue", "g4", "R2-pink", "R2-green", "g7"], "turned"),
        ("green", ["g0", "g1", "R1-green", "R1-pink", "g4", "R2-pink", "R2-green", "b7"], "36 spaces"),
    ],
)
def test_a_layout_against_the_rules_is_refused(field: str, value: Any, complaint: str) -> None:
    data = shipped("B")
    (data["paths"] if field in PATHS else data)[field] = value
    with pytest.raises(ValueError, match=complaint):
        side_of(msgspec.convert(data, SideData))


def test_a_layout_with_its_paths_out_of_order_is_refused() -> None:
    data = shipped("A")
    data["paths"] = dict(reversed(data["paths"].items()))
    with pytest.raises(ValueError, match="paths are"):
        side_of(msgspec.convert(data, SideData))


def test_a_space_on_three_paths_is_refused() -> None:
    """Three spaces shared by every other path, and five of its own on each: it looks the same when turned."""
    data = shipped("B")
    data["paths"] = {
        path: [*(f"hub{n % 2}-{k}" for k in range(3)), *(f"{path}{k}" for k in range(5))]
        for n, path in enumerate(PATHS)
    }
    with pytest.raises(ValueError, match="more than two paths"):
        side_of(msgspec.convert(data, SideData))
