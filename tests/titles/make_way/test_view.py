"""What each audience is told, the text board, and the canonical encoding."""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from services.titles.make_way.components import ROUND
from services.titles.make_way.moves import Discard
from services.titles.make_way.state import counted
from services.titles.make_way.view import Cards
from tests.titles.make_way.positions import (
    EVERY_OPTION,
    TITLE,
    Options,
    played,
    position,
    positions,
    turns,
)

AUDIENCES = (0, 1, None)


def hidden_shuffled(state, viewer):
    """`state` with what `viewer` may not know dealt anew; hand sizes and deck size stay."""
    rng = Random(1)
    others = [seat for seat in (0, 1) if seat != viewer]
    unknown = [*state.deck]
    for seat in others:
        unknown += [card for card, n in enumerate(state.hands[seat]) for _ in range(n)]
    rng.shuffle(unknown)
    hands = list(state.hands)
    for seat in others:
        size = sum(hands[seat])
        hands[seat], unknown = counted(unknown[:size]), unknown[size:]
    return replace(state, hands=tuple(hands), deck=tuple(unknown))


@pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
def test_a_view_is_the_same_whatever_the_viewer_may_not_know(options):
    different = 0
    for turn in turns(6, options):
        for viewer in AUDIENCES:
            other = hidden_shuffled(turn.after, viewer)
            different += other != turn.after
            assert TITLE.view(other, viewer) == TITLE.view(turn.after, viewer)
    assert different > ROUND


def test_a_spectator_sees_no_hand_and_a_seat_its_own():
    state = position(hand="drop drop arrow")
    own = Cards(drop=2, wheel=0, hammers=0, bricks=0, circles=0, arrow=1)
    assert TITLE.view(state, 0).hand == own
    assert TITLE.view(state, 1).hand == Cards(1, 1, 1, 1, 1, 1)
    assert TITLE.view(state, None).hand is None


def test_only_the_seat_to_move_is_told_that_it_must_discard():
    stuck = position(red=[(2, 1)], blue=[(2, 2), (2, 3)], hand="hammers hammers")
    assert [TITLE.view(stuck, viewer).must_discard for viewer in AUDIENCES] == [True, False, False]
    free = position(red=[(2, 1)], blue=[(2, 2), (2, 3)], hand="hammers drop")
    assert [TITLE.view(free, viewer).must_discard for viewer in AUDIENCES] == [False, False, False]
    over = position(hand="", ply=3 * ROUND)
    assert [TITLE.view(over, viewer).must_discard for viewer in AUDIENCES] == [False, False, False]


def test_the_view_follows_rounds_turns_and_cards():
    shown = [TITLE.view(turn.after, None) for turn in turns(3, Options(start=1))]
    assert [view.round for view in shown] == [1] * 17 + [2] * 18 + [3] * 19
    assert [view.ply for view in shown] == list(range(1, 55))
    assert [view.turn for view in shown] == [0, 1] * 26 + [0, None]
    for view in shown:
        spent = sum(sum(msgspec.structs.astuple(cards)) for cards in view.spent)
        assert spent == view.ply
        assert view.deck_size + sum(view.hand_sizes) + spent == 54


def test_a_discarded_card_lies_open_among_the_spent():
    stuck = position(red=[(2, 1)], blue=[(2, 2), (2, 3)], hand="hammers hammers")
    view = TITLE.view(played(stuck, Discard("hammers")), 1)
    assert view.spent == (Cards(0, 0, 1, 0, 0, 0), Cards(0, 0, 0, 0, 0, 0))
    assert view.hand_sizes == (1, 6)


@pytest.mark.parametrize("viewer", AUDIENCES)
def test_moves_are_made_in_the_open(viewer):
    assert all(TITLE.redact(turn.move, turn.seat, viewer) == turn.move for turn in turns(1))


def test_the_text_board_shows_pieces_where_they_stand():
    state = position(red=[(2, 1), (3, 4)], blue=[(2, 4)], hand="drop drop arrow")
    assert TITLE.render(TITLE.view(state, 0)).splitlines() == [
        "round 1 of 3, 0 turns taken, 0 in the deck, R to play",
        "     drop   wheel  hammers  bricks circles  arrow",
        " 6    .       .       .       .       .       .",
        " 5    .       .       .       .       .       .",
        " 4    .       .       B       R       .       .",
        " 3    .       .       .       .       .       .",
        " 2    .       .       .       .       .       .",
        " 1    .       .       R       .       .       .",
        "      a       b       c       d       e       f",
        "R: score 5, supply 6, cards 3, spent none",
        "B: score 3, supply 6, cards 6, spent none",
        "your hand: 2 drop, 1 arrow",
    ]


def test_the_text_board_says_when_a_card_must_be_discarded_and_when_the_game_is_over():
    stuck = position(red=[(2, 1)], blue=[(2, 2), (2, 3)], hand="hammers")
    assert "no card can be played: discard one" in TITLE.render(TITLE.view(stuck, 0))
    assert "discard" not in TITLE.render(TITLE.view(stuck, None))
    assert "game over" in TITLE.render(TITLE.view(position(ply=54), None))


def test_the_canonical_encoding_is_as_documented():
    state = position(red=[(0, 1), (5, 6)], blue=[(1, 1)], hand="drop drop arrow", supply=(7, 8))
    state = replace(state, deck=(5, 0, 3), spent=(counted([4]), counted([])), ply=2, start=1, rounds=4)
    assert TITLE.canonical(state).hex(" ", 1) == (
        "04 01 02  00 01 02 03 04 05  08 00 00 00 01  00 00 00 00 40  07 08 "
        " 02 00 00 00 00 01  01 01 01 01 01 01  00 00 00 00 01 00  00 00 00 00 00 00  05 00 03"
    ).replace("  ", " ")


@settings(max_examples=100, deadline=None)
@given(positions(), positions())
def test_positions_have_equal_encodings_exactly_when_they_are_equal(one, other):
    for field in one.__struct_fields__:
        mixed = replace(one, **{field: getattr(other, field)})
        assert (TITLE.canonical(mixed) == TITLE.canonical(one)) == (mixed == one)
    assert TITLE.canonical(replace(one, deck=(1,))) != TITLE.canonical(replace(one, deck=(2,)))


def test_no_two_positions_of_a_game_share_an_encoding_and_turns_in_another_order_do():
    for options in EVERY_OPTION:
        states = [turn.before for turn in turns(9, options)]
        assert len({TITLE.canonical(state) for state in states}) == len(states)
    state = position()
    one_way, other_way = state, state
    for move in ("drop @a1", "arrow @f6", "wheel @b1"):
        one_way = played(one_way, move)
    for move in ("wheel @b1", "arrow @f6", "drop @a1"):
        other_way = played(other_way, move)
    assert TITLE.canonical(one_way) == TITLE.canonical(other_way)
