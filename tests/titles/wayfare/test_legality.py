"""Which moves there are: `apply`, `legal_moves` and a plain second reading of the rules agree."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from services.core.errors import MoveIllegal
from services.titles.wayfare.moves import REACH, AdventurerMove, GuideMove
from services.titles.wayfare.points import whole_board
from services.titles.wayfare.state import State, canonical, placed
from tests.titles.wayfare.plain_rules import acceptable, listable
from tests.titles.wayfare.positions import (
    NO_LUCK,
    TITLE,
    accepted,
    pieces_of,
    positions,
    refusal,
    targets,
    turns,
    white,
)

KINDS = ("guide", "adventurer")


def moves_between(points, others):
    for start in points:
        for to in others:
            yield GuideMove(start, to)
            yield from (AdventurerMove(start, to, kind) for kind in KINDS)


def agrees(state: State, seat: int) -> None:
    """Fails unless the list is what the plain rules give, each once and guides first."""
    moves = TITLE.legal_moves(state, seat)
    plain = acceptable(pieces_of(state), state.size, "WB"[seat])
    assert len(set(moves)) == len(moves)
    assert set(moves) == listable(plain)
    assert moves == sorted(moves, key=lambda move: isinstance(move, AdventurerMove))


@given(positions())
@hypothesis_settings(deadline=None, max_examples=150)
def test_the_list_is_what_the_plain_rules_allow_in_any_position(state):
    if state.turn is not None:
        agrees(state, state.turn)


@pytest.mark.parametrize(("size", "seed"), [(6, 21), (6, 22), (6, 23), (8, 21), (10, 21)])
def test_the_list_is_what_the_plain_rules_allow_throughout_a_game(size, seed):
    for turn in list(turns(seed, size))[::3]:
        agrees(turn.before, turn.seat)


@pytest.mark.parametrize("seed", [31, 32])
def test_all_that_apply_accepts_of_all_moves_on_the_board_is_what_the_plain_rules_allow(seed):
    points = list(whole_board(6))
    for state, seat, _, _ in list(turns(seed, 6))[4::12]:
        plain = acceptable(pieces_of(state), 6, "WB"[seat])
        assert {move for move in moves_between(points, points) if accepted(state, move, seat)} == plain


@pytest.mark.parametrize("size", [6, 8, 10])
def test_of_moves_drawn_from_the_whole_schema_apply_accepts_only_what_the_plain_rules_allow(size):
    random = Random(size)
    reach = range(-REACH, REACH + 1)
    everywhere = [(q, r) for q in reach for r in reach]
    for state, seat, _, _ in list(turns(41, size))[::25]:
        plain = acceptable(pieces_of(state), size, "WB"[seat])
        for move in moves_between(random.sample(everywhere, 40), random.sample(everywhere, 40)):
            assert accepted(state, move, seat) == (move in plain)


def test_a_move_that_both_kinds_allow_is_listed_along_guides_and_accepted_either_way():
    state = white(6, {(4, 0): "WA", (4, 1): "WG", (5, 0): "WA"})
    assert AdventurerMove((4, 0), (3, 0), "guide") in TITLE.legal_moves(state, 0)
    assert AdventurerMove((4, 0), (3, 0), "adventurer") not in TITLE.legal_moves(state, 0)
    along_guides, along_adventurers = (
        TITLE.apply(state, 0, AdventurerMove((4, 0), (3, 0), kind), NO_LUCK) for kind in KINDS
    )
    assert along_guides == along_adventurers


def test_a_journey_may_swing_outward():
    # From ring 3 to ring 3, though all points in contact lie in rings 4 and 5.
    state = white(6, {(3, -1): "WA", (5, -2): "WG", (5, -3): "WG"})
    assert targets(state, (3, -1), "guide") == {(3, -3), (3, 0)}


def test_the_traveller_does_not_follow_itself():
    # Were it to count itself, [2, 0] would be in contact and [1, 0] the next stop.
    state = white(6, {(3, 0): "WA", (-3, 0): "WA"})
    assert refusal(state, AdventurerMove((3, 0), (1, 0), "adventurer")) == "adventurer-follows-own-pieces"


def test_guides_may_enter_the_centre():
    state = white(6, {(2, 0): "WG", (1, 0): "BG"})
    assert accepted(state, GuideMove((2, 0), (0, 0)))


@pytest.mark.parametrize("far", [6, -6, REACH, 10**18, -(10**5000)], ids=lambda far: hex(far)[:8])
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_point_off_the_board_is_refused_whatever_its_numbers(far, kind):
    state = white(6, {(5, -1): "WG", (4, -1): "BG"})
    for start, to in (((far, 0), (0, 0)), ((5, -1), (0, far))):
        move = GuideMove(start, to) if kind is None else AdventurerMove(start, to, kind)
        assert refusal(state, move) == "point-on-board"


@pytest.mark.parametrize(
    ("move", "rule", "detail"),
    [
        (GuideMove((0, 0), (1, 0)), "own-guide", "[0, 0] holds nothing, no white guide"),
        (GuideMove((4, -1), (1, 0)), "own-guide", "[4, -1] holds a black guide, no white guide"),
        (GuideMove((5, -1), (3, 0)), "guide-goes-straight", "no straight line leads from [5, -1] to [3, 0]"),
        (
            GuideMove((5, -1), (5, -1)),
            "guide-goes-straight",
            "no straight line leads from [5, -1] to [5, -1]",
        ),
        (GuideMove((5, -1), (-4, -1)), "guide-lands-on-empty", "[-4, -1] holds a black adventurer"),
        (
            GuideMove((5, -1), (5, -4)),
            "guide-passes-one-enemy-guide",
            "between [5, -1] and [5, -4] stands nothing",
        ),
        (
            GuideMove((5, -1), (-1, -1)),
            "guide-passes-one-enemy-guide",
            "between [5, -1] and [-1, -1] stands a black guide on [4, -1], a white adventurer on [0, -1]",
        ),
        (
            AdventurerMove((5, -1), (4, 0), "guide"),
            "own-adventurer",
            "[5, -1] holds a white guide, no white adv",
        ),
        (
            AdventurerMove((0, -1), (0, -1), "guide"),
            "adventurer-captures-kind-followed",
            "[0, -1] holds a white adventurer",
        ),
        (
            AdventurerMove((0, -1), (-1, 0), "guide"),
            "inward",
            "[-1, 0] is in ring 1, 0 from a central line; [0, -1] is in ring 1, 0 from a central line",
        ),
        (
            AdventurerMove((0, -1), (4, 0), "guide"),
            "adventurer-stops-out-of-contact",
            "[4, 0] is next to a white guide",
        ),
        (
            AdventurerMove((0, -1), (0, 0), "guide"),
            "adventurer-follows-own-pieces",
            "no way from [0, -1] to [0, 0] follows white guides",
        ),
    ],
)
def test_a_refusal_names_the_rule_and_what_breaks_it(move, rule, detail):
    state = white(6, {(5, -1): "WG", (4, -1): "BG", (0, -1): "WA", (-4, -1): "BA"})
    with pytest.raises(MoveIllegal) as refused:
        TITLE.apply(state, 0, move, NO_LUCK)
    assert refused.value.rule == rule
    assert refused.value.detail.startswith(detail)


def test_every_rule_is_named_by_some_refusal_and_no_other():
    state = white(6, {(5, -1): "WG", (4, -1): "BG", (0, -1): "WA", (-4, -1): "BA", (0, 4): "WA"})
    points = [*whole_board(6), (6, 0)]
    named = {refusal(state, move) for move in moves_between(points, points) if not accepted(state, move)}
    assert named == set(TITLE.rules)


@given(positions())
@hypothesis_settings(deadline=None, max_examples=50)
def test_apply_leaves_the_position_before_as_it_was(state):
    before = canonical(state)
    if state.turn is not None:
        for move in TITLE.legal_moves(state, state.turn)[:20]:
            TITLE.apply(state, state.turn, move, NO_LUCK)
    assert canonical(state) == before


def test_only_the_side_to_move_has_legal_moves():
    state = placed(6, {(5, -1): "WG", (4, -1): "BG", (-5, 1): "BG", (-4, 1): "WG"}, turn=1)
    assert TITLE.legal_moves(state, 1)
    assert TITLE.legal_moves(state, 0) == []
