"""The worked examples of the rules, one test each, named after them. Side A unless said otherwise."""

import pytest

from services.titles.a_way_back_home.state import Tile
from tests.titles.a_way_back_home.positions import (
    TITLE,
    Given,
    counts,
    filled,
    fronts,
    legal,
    play,
    pool,
    position,
    refused,
    scores,
)


def test_rulebook_scoring_gives_20() -> None:
    state = position(filled(green=6, orange=5, blue=1))
    assert fronts(state) == {"green": 6, "orange": 5, "blue": 1}
    assert TITLE.view(state, None).players[0].points == {
        "green": 20, "pink": 0, "purple": 0, "black": 0, "orange": 10, "blue": -10,
    }  # fmt: skip
    assert scores(state) == (20, 0)


def test_draw_and_place_lights_two_and_returns_the_third_to_the_pool() -> None:
    drawn = position(drawn="green orange blue")
    state = play(drawn, "place g o")
    assert TITLE.view(state, None).players[0].board == {"g0": "green", "o0": "orange"}
    assert pool(state) == {"blue": 1}
    assert scores(state) == (-20, 0)
    assert refused(drawn, "place g o b") == "place-one-or-two"
    assert refused(drawn, "place -") == "place-when-possible"


def test_two_of_a_colour_go_on_one_path() -> None:
    state = play(position(drawn="green green pink"), "place g g")
    assert fronts(state) == {"green": 2}
    assert scores(state) == (-5, 0)


def test_intersection_moves_both_fronts() -> None:
    state = play(position(filled(green=4, pink=2), drawn="green black black"), "place g")
    assert TITLE.view(state, None).players[0].board["R-pink"] == "green"
    assert fronts(state) == {"green": 5, "pink": 3}
    assert scores(state) == (10, 0)


@pytest.mark.parametrize(
    ("line", "expected"), [("place g p", {"green": 5, "pink": 4}), ("place p g", {"green": 6, "pink": 3})]
)
def test_order_of_placing_matters_at_an_intersection(line: str, expected: dict[str, int]) -> None:
    state = play(position(filled(green=4, pink=2), drawn="green pink black"), line)
    assert fronts(state) == expected


def test_wild_goes_on_any_path_and_a_coloured_crystal_only_on_its_own() -> None:
    drawn = position(filled(blue=3), drawn="wild blue blue")
    state = play(drawn, "place w>b b")
    shown = TITLE.view(state, None).players[0]
    assert (shown.board["b3"], shown.board["R-green"]) == ("wild", "blue")
    assert shown.fronts["blue"] == 5
    assert refused(drawn, "place b>g") == "crystal-on-own-path"


def test_small_bag_leaves_only_taking() -> None:
    assert legal(position(bags=[2], pool=counts(green=2, wild=1))) == ["take g2", "take w1"]
    assert refused(position(bags=[2], pool=counts(green=2)), "draw") == "draw-needs-three"


def test_small_bag_with_an_empty_pool_is_a_forced_pass() -> None:
    state = play(position(bags=[4, 2], pool=counts(green=1)), "take g1")
    assert TITLE.view(state, None).passed == (1,)
    assert TITLE.to_act(state) == {0}


def test_bag_of_three_with_an_empty_pool_leaves_only_drawing() -> None:
    assert legal(position(bags=[3])) == ["draw"]
    assert refused(position(bags=[3]), "take g1") == "take-from-pool"


def test_base_take_is_one_whole_colour() -> None:
    state = position(pool=counts(green=3, blue=1, wild=2))
    assert legal(state) == ["draw", "take g3", "take b1", "take w2"]
    assert refused(state, "take g2") == "take-base"
    assert refused(state, "take g3 w2") == "take-base"


def test_declaring_needs_zero_and_gives_everybody_else_one_turn() -> None:
    drawn = position(filled(black=2), bags=[0, 9], drawn="black black pink")
    state = play(drawn, "place k end")
    assert state.declared_by == 0
    assert TITLE.to_act(state) == {1}
    state = play(state, "draw", "place b", luck=Given("blue", "blue", "blue"))
    assert TITLE.outcome(state).reason == "end_declared"
    assert refused(drawn, "place p end") == "declare-after-zero"


def test_not_declaring_leaves_the_declaration_to_another_emptying_of_the_bag() -> None:
    drawn = position(filled(black=2), bags=[0, 9], drawn="black black pink")
    state = play(drawn, "place k", "draw", "place b", luck=Given("blue", "blue", "blue"))
    assert (state.turn, sum(state.bags[0])) == (0, 0)
    assert refused(state, "draw") == "draw-needs-three"
    assert legal(state) == ["take p1", "take k1", "take b2"]


def test_not_declaring_and_an_empty_pool_is_a_pass_without_declaration() -> None:
    state = play(position(bags=[0, 9], start=1, pool=counts(green=3)), "take g3")
    assert TITLE.view(state, None).passed == (0,)
    assert (state.turn, state.declared_by) == (1, None)


def test_bag_not_empty_refuses_the_declaration() -> None:
    drawn = position(filled(black=3), bags=[1], drawn="black black pink")
    assert refused(drawn, "place k end") == "declare-with-empty-bag"


def test_goal_scores_30_and_takes_no_crystal() -> None:
    state = position(filled(green=7), drawn="green green green")
    assert scores(state) == (30, 0)
    assert refused(state, "place g") == "goal-takes-no-crystal"
    assert legal(state) == ["place -"]
    assert pool(play(state, "place -")) == {"green": 3}


@pytest.mark.parametrize(("declared_by", "winner"), [(2, 2), (0, 1)])
def test_tie_goes_to_the_first_clockwise_from_the_declarer(declared_by: int, winner: int) -> None:
    boards = [filled(green=6, pink=4), filled(green=7, pink=5), filled(green=7, pink=5)]
    state = position(*boards, declared_by=declared_by, start=declared_by, turns=30)
    outcome = TITLE.outcome(state)
    assert outcome.scores == (25, 40, 40)
    assert outcome.winners == (winner,)


def test_character_3_with_a_pool_of_four_cannot_be_taken_with() -> None:
    assert legal(position(side="B", tile=Tile(3), pool=counts(green=4))) == ["draw"]
    drawn = position(side="B", tile=Tile(3), bags=[9, 2], drawn="green green green", pool=counts(pink=3))
    state = play(drawn, "place g g")
    assert TITLE.view(state, None).character.where == "box"
    assert legal(state) == ["take g1", "take p3"]


@pytest.mark.parametrize(
    ("character", "takes"),
    [
        (2, ["take p1", "take w1"]),
        (5, ["take g2"]),
        (1, ["take g1 p1 w1"]),
        (4, ["take g2 p1", "take g2 w1", "take p1 w1"]),
        (0, ["take g2", "take g1 p1", "take g1 w1", "take p1 w1"]),
    ],
)
def test_characters_replace_the_take(character: int, takes: list[str]) -> None:
    state = position(side="B", tile=Tile(character), bags=[2], pool=counts(green=2, pink=1, wild=1))
    assert legal(state) == takes


def test_building_reached_wins_the_tile_and_passed_loses_it() -> None:
    drawn = position(filled("B", green=3), side="B", tile=Tile(0), drawn="green black black")
    assert TITLE.view(drawn, None).take == "any_two"
    state = play(drawn, "place g")
    shown = TITLE.view(state, None)
    assert (shown.character.where, shown.take) == ("player:0", "base")
    assert scores(state) == (0 + 1, 0)
    state = play(state, "draw", "place b", luck=Given("blue", "blue", "blue"))
    state = position(*state.boards, side="B", tile=state.tile, drawn="green black black")
    state = play(state, "place g")
    assert TITLE.view(state, None).character.where == "box"
    assert scores(state) == (5, -10)


def test_side_b_scores() -> None:
    assert scores(position(filled("B", green=2), side="B")) == (-15, 0)
    state = position(filled("B", green=4), side="B")
    assert fronts(state) == {"green": 4}
    assert "R1-pink" in TITLE.view(state, None).players[0].board
    assert scores(state) == (0, 0)
