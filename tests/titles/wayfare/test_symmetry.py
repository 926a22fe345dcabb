"""Legal moves turn with the board: by 120 degrees as they are, by 60 degrees with the colours exchanged."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from services.titles.wayfare.moves import AdventurerMove, GuideMove, Move
from services.titles.wayfare.points import Point
from services.titles.wayfare.rules import settled
from services.titles.wayfare.state import State, placed
from tests.titles.wayfare.positions import NO_LUCK, SIZES, TITLE, opening, pieces_of, positions

EXCHANGED = {"WG": "BG", "WA": "BA", "BG": "WG", "BA": "WA"}


def turned(point: Point, times: int = 1) -> Point:
    q, r = point
    return turned((-r, q + r), times - 1) if times else point


def turned_move(move: Move, times: int) -> Move:
    start, to = turned(move.from_, times), turned(move.to, times)
    return GuideMove(start, to) if isinstance(move, GuideMove) else AdventurerMove(start, to, move.ref)


def turned_state(state: State, times: int, exchange: bool) -> State:
    """The position turned by 60 degrees so many times; `exchange` swaps the colours, also of the mover."""
    pieces = {
        turned(point, times): EXCHANGED[piece] if exchange else piece
        for point, piece in pieces_of(state).items()
    }
    mover = state.turn if state.turn is not None else 0
    return settled(placed(state.size, pieces, 1 - mover if exchange else mover, state.final_compare))


@pytest.mark.parametrize("size", SIZES)
def test_the_first_position_turned_by_120_degrees_is_itself(size):
    assert turned_state(opening(size), 2, exchange=False) == opening(size)


@pytest.mark.parametrize("size", SIZES)
def test_the_first_position_turned_by_60_degrees_is_itself_with_colours_exchanged(size):
    assert pieces_of(turned_state(opening(size), 1, exchange=True)) == pieces_of(opening(size))


@pytest.mark.parametrize("times", range(1, 6))
@pytest.mark.parametrize("exchange", [False, True])
@given(state=positions())
@hypothesis_settings(deadline=None, max_examples=15)
def test_moves_and_what_they_lead_to_turn_with_the_board(times, exchange, state):
    other = turned_state(state, times, exchange)
    if state.turn is None:
        assert other.turn is None
        return
    seat = 1 - state.turn if exchange else state.turn
    moves = TITLE.legal_moves(state, state.turn)
    assert set(TITLE.legal_moves(other, seat)) == {turned_move(move, times) for move in moves}
    for move in moves[:3]:
        after = TITLE.apply(state, state.turn, move, NO_LUCK)
        turned_after = TITLE.apply(other, seat, turned_move(move, times), NO_LUCK)
        assert pieces_of(turned_after) == pieces_of(turned_state(after, times, exchange))
