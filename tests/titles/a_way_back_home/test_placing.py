"""Placing: goals, shared spaces, wilds, and the character tile on the way."""

import pytest

from services.titles.a_way_back_home.state import IN_BOX, Tile
from tests.titles.a_way_back_home.positions import TITLE, filled, fronts, legal, play, pool, position, refused


def test_each_choice_is_listed_once_however_equal_the_crystals() -> None:
    assert legal(position(drawn="green green green")) == ["place g", "place g g"]
    assert legal(position(drawn="green green blue")) == [
        "place g", "place g g", "place g b", "place b", "place b g",
    ]  # fmt: skip


def test_two_wilds_and_a_colour_give_55_choices() -> None:
    assert len(legal(position(drawn="wild wild green"))) == 55


def test_declarations_double_only_what_reaches_zero() -> None:
    state = position(filled(black=2), bags=[0], drawn="black green green")
    assert legal(state) == [
        "place g", "place g g", "place g k", "place g k end",
        "place k", "place k end", "place k g", "place k g end",
    ]  # fmt: skip


def test_the_only_crystal_that_fits_must_be_placed() -> None:
    state = position(filled(green=7), drawn="green green blue")
    assert legal(state) == ["place b"]
    assert refused(state, "place -") == "place-when-possible"
    assert refused(state, "place b g") == "goal-takes-no-crystal"


def test_the_first_placement_can_bring_the_path_of_the_second_to_its_goal() -> None:
    state = position(filled(green=6), drawn="green green blue")
    assert "place g" in legal(state)
    assert refused(state, "place g g") == "goal-takes-no-crystal"


def test_a_crystal_not_drawn_or_drawn_once_is_not_placed_or_not_twice() -> None:
    state = position(drawn="green orange blue")
    assert refused(state, "place p") == "place-drawn-crystals"
    assert refused(state, "place g g") == "place-drawn-crystals"
    assert refused(state, "place w>g") == "place-drawn-crystals"


def test_a_path_whose_first_space_is_empty_scores_nothing_though_lit_further_out() -> None:
    state = play(position(filled(green=4), drawn="green black black"), "place g")
    assert TITLE.view(state, None).players[0].board["R-pink"] == "green"
    assert fronts(state) == {"green": 5}


def test_fronts_jump_over_shared_spaces_that_are_lit() -> None:
    state = play(position(filled(green=5, pink=1), drawn="pink black black"), "place p")
    assert fronts(state) == {"green": 5, "pink": 3}


def test_a_wild_on_a_shared_space_serves_both_paths_and_stays_a_wild() -> None:
    state = play(position(filled(green=4, pink=2), drawn="wild black black"), "place w>p")
    assert TITLE.view(state, None).players[0].board["R-pink"] == "wild"
    assert fronts(state) == {"green": 5, "pink": 3}


def test_drawn_wilds_that_are_not_placed_go_to_the_pool() -> None:
    assert pool(play(position(drawn="wild wild black"), "place k")) == {"wild": 2}


def test_a_wild_cannot_be_placed_once_every_path_is_at_its_goal() -> None:
    full = filled(green=7, pink=7, purple=7, black=7, orange=7, blue=7)
    state = position(full, drawn="wild wild green")
    assert legal(state) == ["place -"]
    assert play(state, "place -").boards[0] == full


def test_reaching_and_passing_the_building_in_one_turn_boxes_the_tile() -> None:
    state = position(filled("B", green=3), side="B", tile=Tile(0), drawn="green green black")
    assert play(state, "place g g").tile == Tile(0, IN_BOX)


def test_a_front_that_a_shared_space_brings_to_the_building_wins_the_tile() -> None:
    board = filled("B", filled("B", pink=3), green=2, blue=3)
    state = position(board, side="B", tile=Tile(0), drawn="blue black black")
    assert fronts(state) == {"pink": 3, "green": 2, "blue": 3}
    after = play(state, "place b")
    assert fronts(after)["green"] == 4
    assert after.tile == Tile(0, 0)


@pytest.mark.parametrize("path", ["pink", "blue"])
def test_other_buildings_do_not_matter_to_the_character(path: str) -> None:
    board = filled("B", **{path: 3})
    state = position(board, side="B", tile=Tile(0), drawn=f"{path} black black")
    after = play(state, f"place {path[0]}")
    assert fronts(after)[path] == 4
    assert after.tile == Tile(0)


def test_the_tile_of_another_seat_or_in_the_box_stays_where_it_is() -> None:
    for where in (1, IN_BOX):
        board = filled("B", green=3)
        state = position(board, side="B", tile=Tile(0, where), drawn="green green black")
        assert play(state, "place g").tile == Tile(0, where)
        assert play(state, "place g g").tile == Tile(0, where)
