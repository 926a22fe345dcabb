"""Which moves are legal: counted, compared with a plain reading of the rules, and refused by name."""

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from services.core.chance import Recorded, Rolling
from services.core.errors import MoveIllegal
from services.titles.make_way.components import MENUS, board, forward, lane_down, lane_up, tiles_of
from services.titles.make_way.moves import Advance, Discard, Enter, Play, Shift
from services.titles.make_way.notation import every_move
from tests.titles.make_way import plain_rules
from tests.titles.make_way.positions import (
    EVERY_OPTION,
    TITLE,
    Options,
    advance,
    enter,
    played,
    position,
    positions,
    refusal,
    shift,
    turns,
)

EVERY_MOVE = list(every_move())


def sequences(state, depth):
    """How many sequences of `depth` turns there are."""
    if depth == 0:
        return 1
    return sum(sequences(played(state, move), depth - 1) for move in TITLE.legal_moves(state, state.turn))


def accepted(state):
    found = []
    for move in EVERY_MOVE:
        try:
            TITLE.apply(state, state.turn, move, Rolling(b"k", 0))
        except MoveIllegal as error:
            assert error.rule in TITLE.rules
        else:
            found.append(move)
    return found


@pytest.mark.parametrize(("depth", "count"), [(1, 6), (2, 36), (3, 270), (4, 2_025), (5, 16_065)])
def test_the_counted_sequences_from_an_unshuffled_deck(depth, count):
    state = TITLE.setup(Options(start=0), 2, Recorded([list(range(54))]))
    assert sequences(state, depth) == count


@settings(max_examples=150, deadline=None)
@given(positions())
def test_plays_are_those_of_a_plain_reading_and_do_what_it_says(state):
    seat = state.turn
    expected = {
        move: board
        for move in EVERY_MOVE
        if isinstance(move, Play) and (board := plain_rules.after(state, seat, move)) is not None
    }
    listed = TITLE.legal_moves(state, seat)
    assert {move for move in listed if isinstance(move, Play)} == set(expected)
    for move, after in expected.items():
        assert plain_rules.board_of(played(state, move)) == after


@settings(max_examples=60, deadline=None)
@given(positions())
def test_legal_moves_are_all_that_apply_accepts(state):
    listed = TITLE.legal_moves(state, state.turn)
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(accepted(state))


def test_legal_moves_are_all_that_apply_accepts_throughout_a_game():
    for options in EVERY_OPTION[::4]:
        for turn in list(turns(11, options))[::9]:
            assert set(TITLE.legal_moves(turn.before, turn.seat)) == set(accepted(turn.before))


def test_nothing_is_legal_for_the_seat_that_waits_or_after_the_end():
    game = list(turns(2))
    assert all(TITLE.legal_moves(turn.before, 1 - turn.seat) == [] for turn in game)
    assert [TITLE.legal_moves(game[-1].after, seat) for seat in (0, 1)] == [[], []]


@settings(max_examples=100, deadline=None)
@given(positions())
def test_seen_from_the_other_side_the_same_moves_are_legal(state):
    boards = tuple(board((lane, 7 - rank) for lane, rank in tiles_of(each)) for each in state.boards[::-1])
    mirrored = replace(
        state,
        boards=boards,
        supply=state.supply[::-1],
        hands=state.hands[::-1],
        start=1 - state.start,
    )
    expected = {moved(move, lambda lane, rank: (lane, 7 - rank)) for move in legal_moves(state)}
    assert set(legal_moves(mirrored)) == expected


@pytest.mark.parametrize("by", range(1, 6))
def test_with_all_lanes_turned_the_same_moves_are_legal(by):
    def turned(lane, rank):
        return (lane + by) % 6, rank

    for turn in list(turns(by))[::4]:
        state = turn.before
        rotated = replace(
            state,
            boards=tuple(board(turned(*tile) for tile in tiles_of(each)) for each in state.boards),
            lanes=state.lanes[-by:] + state.lanes[:-by],
        )
        assert set(legal_moves(rotated)) == {moved(move, turned) for move in legal_moves(state)}


def legal_moves(state):
    return TITLE.legal_moves(state, state.turn)


def moved(move, to):
    """`move` with its tile taken elsewhere."""
    if isinstance(move, Discard):
        return move
    match move.move:
        case Advance(tile):
            return Play(move.card, Advance(to(*tile)))
        case Shift(tile, direction):
            return Play(move.card, Shift(to(*tile), direction))
        case Enter(tile):
            return Play(move.card, Enter(to(*tile)))


def test_an_entry_needs_a_piece_in_the_supply():
    assert refusal(position(supply=(0, 6)), enter("drop", (0, 1))) == "enter-from-supply"


def test_an_entry_off_the_start_row_needs_an_own_piece_right_ahead():
    state = position(red=[(0, 5)], blue=[(1, 3)])
    rule = "enter-at-start-or-behind"
    assert refusal(state, enter("drop", (0, 3))) == rule
    assert refusal(state, enter("drop", (0, 6))) == rule
    assert refusal(state, enter("wheel", (1, 2))) == rule


def test_an_entry_onto_an_own_piece_is_refused():
    state = position(red=[(0, 1), (1, 2), (1, 3)])
    assert refusal(state, enter("drop", (0, 1))) == "own-piece-not-pushed-ahead"
    assert refusal(state, enter("wheel", (1, 2))) == "own-piece-not-pushed-ahead"


def test_only_own_pieces_move():
    state = position(red=[(0, 1)], blue=[(2, 3)])
    assert refusal(state, advance("hammers", (2, 3))) == "move-own-piece"
    assert refusal(state, shift("wheel", (2, 3), -1)) == "move-own-piece"
    assert refusal(state, advance("bricks", (3, 3))) == "move-own-piece"


def test_a_card_must_be_in_hand():
    state = position(hand="drop")
    assert refusal(state, enter("wheel", (1, 1))) == "card-in-hand"
    assert refusal(state, Discard("wheel")) == "card-in-hand"


HUGE = 10**5_000


@pytest.mark.parametrize(
    ("move", "rule"),
    [
        (enter("spade", (0, 1)), "card-in-hand"),
        (Discard(""), "card-in-hand"),
        (enter("drop", (0, 0)), "tile-on-board"),
        (enter("drop", (-1, 1)), "tile-on-board"),
        (enter("drop", (0, HUGE)), "tile-on-board"),
        (enter("drop", (0, 1, 1)), "tile-on-board"),
        (advance("drop", (6, 1)), "tile-on-board"),
        (shift("drop", (0, 7), 1), "tile-on-board"),
        (shift("wheel", (0, 1), 0), "shift-one-lane"),
        (shift("drop", (0, 1), 6), "shift-one-lane"),
        (shift("drop", (0, 1), HUGE), "shift-one-lane"),
    ],
)
def test_values_outside_the_schema_are_refused_like_any_illegal_move(move, rule):
    assert refusal(position(red=[(0, 1)]), move) == rule


def test_every_rule_that_the_schema_lets_one_break_is_named_by_some_refusal():
    red, blue = [(0, 6), (1, 5), (2, 2), (2, 1)], [(1, 6), (2, 3), (2, 4)]
    named = set()
    for supply in ((5, 6), (0, 6)):
        state = position(red, blue, hand="drop wheel hammers", supply=supply)
        for move in EVERY_MOVE:
            try:
                played(state, move)
            except MoveIllegal as error:
                named.add(error.rule)
    assert named == set(TITLE.rules) - {"tile-on-board", "shift-one-lane"}


def test_steps_on_whole_boards_keep_to_the_board():
    corner = board([(0, 6), (5, 1)])
    assert forward(corner, 0) == board([(5, 2)])
    assert forward(corner, 1) == board([(0, 5)])
    assert lane_up(corner) == board([(1, 6), (0, 1)])
    assert lane_down(corner) == board([(5, 6), (4, 1)])


def test_every_play_on_a_menu_ends_in_the_lane_of_the_menu():
    for lane, by_card in enumerate(MENUS):
        for menu in by_card:
            assert {play.move.origin[0] for play in menu.advance[-1]} == {lane}
            assert {(play.move.origin[0] - 1) % 6 for play in menu.shift_down[-1]} == {lane}
            assert {(play.move.origin[0] + 1) % 6 for play in menu.shift_up[-1]} == {lane}
            assert {play.move.to[0] for play in menu.enter[-1]} == {lane}
