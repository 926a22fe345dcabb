"""Positions and games for these tests. Seat 0 is White, seat 1 Black; pieces are WG, WA, BG and BA."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import strategies as st

from services.core.chance import Recorded
from services.core.errors import MoveIllegal
from services.titles.wayfare import VERSIONS
from services.titles.wayfare.moves import AdventurerMove, GuideMove, Kind, Move, Options
from services.titles.wayfare.points import Point, whole_board
from services.titles.wayfare.rules import settled
from services.titles.wayfare.state import State, Symbol, placed

TITLE = VERSIONS[1]
NO_LUCK = Recorded(())
SIZES = (6, 8, 10)
SYMBOLS: tuple[Symbol, ...] = ("WG", "WA", "BG", "BA")


def opening(size: int = 8) -> State:
    return TITLE.setup(Options(size=size), 2, NO_LUCK)


def targets(state: State, start: Point, ref: Kind | None = None) -> set[Point]:
    """Where White's piece at `start` may go, by `apply`: a guide, or an adventurer that follows `ref`."""
    moves = (
        GuideMove(start, to) if ref is None else AdventurerMove(start, to, ref)
        for to in whole_board(state.size)
    )
    return {move.to for move in moves if accepted(state, move)}


def listed(state: State, start: Point) -> set[tuple[Point, Kind | None]]:
    """(to, ref) of the legal moves of White's piece at `start`."""
    moves = (move for move in TITLE.legal_moves(state, 0) if move.from_ == start)
    return {(move.to, getattr(move, "ref", None)) for move in moves}


def accepted(state: State, move: Move, seat: int = 0) -> bool:
    try:
        TITLE.apply(state, seat, move, NO_LUCK)
    except MoveIllegal:
        return False
    return True


def refusal(state: State, move: Move, seat: int = 0) -> str:
    """The rule that forbids the move; fails when it is accepted."""
    with pytest.raises(MoveIllegal) as refused:
        TITLE.apply(state, seat, move, NO_LUCK)
    assert refused.value.detail
    return refused.value.rule


def white(size: int, pieces: dict[Point, Symbol]) -> State:
    """A position with White to move."""
    return placed(size, pieces, turn=0)


class Turn(NamedTuple):
    """One move of a game, and the positions around it."""

    before: State
    seat: int
    move: Move
    after: State


def turns(seed: int, size: int = 6, final_compare: str = "presence") -> Iterator[Turn]:
    """A whole random game."""
    random = Random(seed)
    state = TITLE.setup(Options(size=size, final_compare=final_compare), 2, NO_LUCK)
    while state.turn is not None:
        seat = state.turn
        move = random.choice(TITLE.legal_moves(state, seat))
        after = TITLE.apply(state, seat, move, NO_LUCK)
        yield Turn(state, seat, move, after)
        state = after


def pieces_of(state: State) -> dict[Point, Symbol]:
    """What stands where, as `placed` reads it."""
    found: dict[Point, Symbol] = {}
    for seat, colour in enumerate("WB"):
        side = TITLE.view(state, None).sides[seat]
        found |= dict.fromkeys(side.guides, f"{colour}G") | dict.fromkeys(side.adventurers, f"{colour}A")
    return found


@st.composite
def positions(draw: st.DrawFn, sizes: tuple[int, ...] = SIZES) -> State:
    """Any placement of up to two pieces to three points, with the turn where it belongs."""
    size = draw(st.sampled_from(sizes))
    places = st.dictionaries(
        st.sampled_from(list(whole_board(size))), st.sampled_from(SYMBOLS), max_size=2 * size * size
    )
    compare = draw(st.sampled_from(("presence", "count")))
    return settled(placed(size, draw(places), draw(st.integers(0, 1)), compare))
