"""The worked examples of the rules by number. Pieces not named are not there; White is to move."""

import pytest

from services.titles.wayfare.moves import AdventurerMove, GuideMove
from services.titles.wayfare.rules import settled
from services.titles.wayfare.scoring import standing
from services.titles.wayfare.state import placed
from tests.titles.wayfare.positions import (
    NO_LUCK,
    TITLE,
    accepted,
    listed,
    opening,
    pieces_of,
    refusal,
    targets,
    white,
)


def test_example_1_each_side_has_240_moves_at_the_start_all_by_outer_guides():
    state = opening()
    moves = TITLE.legal_moves(state, 0)
    assert len(moves) == 240
    assert all(isinstance(move, GuideMove) for move in moves)
    assert {max(abs(q), abs(r), abs(q + r)) for q, r in (move.from_ for move in moves)} == {7}
    black = placed(8, pieces_of(state), turn=1)
    assert len(TITLE.legal_moves(black, 1)) == 240


def test_example_2_the_guide_at_the_end_of_a_side_has_ten_targets():
    expected = {(q, -1) for q in range(-4, 6)}
    assert targets(opening(), (7, -1)) == expected
    after = TITLE.apply(opening(), 0, GuideMove((7, -1), (5, -1)), NO_LUCK)
    assert pieces_of(after)[6, -1] == "WA"
    assert refusal(opening(), GuideMove((7, -1), (-5, -1))) == "guide-lands-on-empty"


def test_example_3_a_guide_inside_a_side_has_fifteen_targets_in_two_directions():
    over_one = {(q, -3) for q in range(-2, 6)}
    over_other = {(5, -1), (4, 0), (3, 1), (2, 2), (1, 3), (0, 4), (-1, 5)}
    assert targets(opening(), (7, -3)) == over_one | over_other
    for to, passed in (((5, -3), (6, -3)), ((5, -1), (6, -2))):
        after = TITLE.apply(opening(), 0, GuideMove((7, -3), to), NO_LUCK)
        assert pieces_of(after)[passed] == "WA"


def test_example_4_a_guide_of_the_other_colour_does_not_move():
    assert refusal(opening(), GuideMove((6, -7), (5, -6))) == "own-guide"


def test_example_5_two_enemy_guides_in_a_row_cannot_be_passed():
    state = white(6, {(5, -1): "WG", (4, -1): "BG", (3, -1): "BG"})
    assert targets(state, (5, -1)) == set()
    assert refusal(state, GuideMove((5, -1), (2, -1))) == "guide-passes-one-enemy-guide"


def test_example_6_a_second_guide_ends_the_landing_points():
    state = white(6, {(5, -1): "WG", (4, -1): "BG", (2, -1): "BG"})
    assert targets(state, (5, -1)) == {(3, -1)}


@pytest.mark.parametrize(
    "pieces",
    [{(5, -1): "WG", (4, -1): "WG", (3, -1): "BG"}, {(5, -1): "WG", (4, -1): "BA"}],
    ids=["an own piece in the way", "an adventurer in the way"],
)
def test_example_7_own_pieces_and_adventurers_are_not_passed(pieces):
    assert targets(white(6, pieces), (5, -1)) == set()
    assert refusal(white(6, pieces), GuideMove((5, -1), (2, -1))) == "guide-passes-one-enemy-guide"


def test_example_8_the_far_end_of_a_line_is_no_further_inward():
    state = white(6, {(5, -1): "WG", (3, -1): "BG"})
    assert targets(state, (5, -1)) == {(q, -1) for q in range(-3, 3)}
    assert refusal(state, GuideMove((5, -1), (-4, -1))) == "inward"


def test_example_9_the_same_ring_is_inward_only_towards_a_central_line():
    assert targets(white(6, {(3, -1): "WG", (3, -2): "BG"}), (3, -1)) == {(3, -3)}
    outward = white(6, {(2, 0): "WG", (3, 0): "BG"})
    assert targets(outward, (2, 0)) == set()
    assert refusal(outward, GuideMove((2, 0), (4, 0))) == "inward"


def test_example_10_an_adventurer_alone_cannot_move():
    state = white(6, {(3, 0): "WA"})
    assert listed(state, (3, 0)) == set()
    assert refusal(state, AdventurerMove((3, 0), (2, 0), "guide")) == "adventurer-follows-own-pieces"
    assert refusal(state, AdventurerMove((3, 0), (2, 0), "adventurer")) == "adventurer-follows-own-pieces"


def test_example_11_an_adventurer_in_contact_stops_where_the_contact_ends():
    state = white(6, {(4, 0): "WA", (4, 1): "WG"})
    assert targets(state, (4, 0), "guide") == {(3, 0), (2, 1)}
    assert listed(state, (4, 0)) == {((3, 0), "guide"), ((2, 1), "guide")}
    assert refusal(state, AdventurerMove((4, 0), (4, -1), "guide")) == "inward"
    assert refusal(state, AdventurerMove((4, 0), (3, 1), "guide")) == "adventurer-stops-out-of-contact"


def test_example_12_out_of_contact_the_first_step_must_come_into_contact():
    state = white(6, {(4, 0): "WA", (2, 0): "WG"})
    expected = {(0, 0), (0, 1), (0, 2), (1, -1), (1, 2), (2, -2), (3, -2)}
    assert targets(state, (4, 0), "guide") == expected
    assert targets(state, (4, 0), "adventurer") == set()


def test_example_13_a_journey_captures_the_kind_it_follows():
    by_guide = white(6, {(4, 0): "WA", (4, 1): "WG", (3, 0): "BG"})
    after = TITLE.apply(by_guide, 0, AdventurerMove((4, 0), (3, 0), "guide"), NO_LUCK)
    assert pieces_of(after) == {(3, 0): "WA", (4, 1): "WG"}

    adventurer_there = white(6, {(4, 0): "WA", (4, 1): "WG", (3, 0): "BA"})
    to = AdventurerMove((4, 0), (3, 0), "guide")
    assert refusal(adventurer_there, to) == "adventurer-captures-kind-followed"
    assert targets(adventurer_there, (4, 0), "adventurer") == set()

    by_adventurer = white(6, {(4, 0): "WA", (4, 1): "WA", (3, 0): "BA"})
    after = TITLE.apply(by_adventurer, 0, AdventurerMove((4, 0), (3, 0), "adventurer"), NO_LUCK)
    assert pieces_of(after) == {(3, 0): "WA", (4, 1): "WA"}


def test_example_14_an_enemy_in_contact_is_not_captured():
    state = white(6, {(4, 0): "WA", (4, 1): "WG", (3, -1): "WG", (3, 0): "BG"})
    to = AdventurerMove((4, 0), (3, 0), "guide")
    assert not accepted(state, to)
    assert refusal(state, to) == "adventurer-stops-out-of-contact"


def test_example_15_a_side_without_a_move_passes_by_itself():
    state = settled(white(6, {(3, 0): "WA", (0, 3): "BA", (0, 4): "BG"}))
    assert (state.turn, state.passed) == (1, True)
    assert TITLE.to_act(state) == {1}
    assert TITLE.legal_moves(state, 1)


@pytest.mark.parametrize(
    ("pieces", "presence", "count"),
    [
        ({(0, 0): "WA", (1, 0): "BA"}, 0, 0),
        ({(0, 0): "WG", (1, 0): "BA"}, 1, 1),
        ({(1, 0): "WA", (-1, 1): "BA", (2, 0): "BA"}, 1, 1),
        ({(1, 0): "WA", (-1, 0): "WA", (-1, 1): "BA", (2, 0): "BA"}, 1, 0),
        ({(1, 0): "WA", (-1, 0): "BA"}, None, None),
        ({}, None, None),
    ],
)
def test_example_16_the_first_ring_that_tells_the_colours_apart_decides(pieces, presence, count):
    assert standing(placed(6, pieces, final_compare="presence")).leader == presence
    assert standing(placed(6, pieces, final_compare="count")).leader == count
