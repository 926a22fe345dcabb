"""Positions and games for these tests, in the words of the rules: seat 0 is red, seat 1 blue."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from services.core.chance import Recorded
from services.core.errors import MoveIllegal
from services.titles.make_way import VERSIONS
from services.titles.make_way.components import CARD_OF, PIECES, SYMBOLS, TILES, board, tiles_of
from services.titles.make_way.moves import Advance, Discard, Enter, Move, Options, Play, Shift, Tile
from services.titles.make_way.notation import parse
from services.titles.make_way.state import State, counted
from tests.titles.dice import BaglessDice as Dice

TITLE = VERSIONS[1]
NO_LUCK = Recorded(())
ONE_OF_EACH = " ".join(SYMBOLS)


def position(
    red: Iterable[Tile] = (),
    blue: Iterable[Tile] = (),
    hand: str = ONE_OF_EACH,
    turn: int = 0,
    supply: tuple[int, int] = (6, 6),
    **rest: Any,
) -> State:
    """A position early in a round where seat `turn` holds `hand`, the other seat one card of each symbol."""
    hands = [counted(range(len(SYMBOLS)))] * 2
    hands[turn] = counted(CARD_OF[symbol] for symbol in hand.split())
    return State((board(red), board(blue)), supply, (hands[0], hands[1]), start=turn, **rest)


def advance(card: Any, origin: Tile) -> Play:
    return Play(card, Advance(origin))


def shift(card: Any, origin: Tile, direction: Any) -> Play:
    return Play(card, Shift(origin, direction))


def enter(card: Any, to: Tile) -> Play:
    return Play(card, Enter(to))


def played(state: State, move: Move | str) -> State:
    """The position after a move of the seat whose turn it is; no luck is to hand."""
    return TITLE.apply(state, state.turn, parse(move) if isinstance(move, str) else move, NO_LUCK)


def legal(state: State, card: str | None = None) -> set[str]:
    """Notation of the legal moves, those with `card` if one is named."""
    moves = TITLE.legal_moves(state, state.turn)
    return {TITLE.notation(move) for move in moves if card in (None, move.card)}


def tiles(state: State) -> tuple[set[Tile], set[Tile]]:
    """Where the pieces of seat 0 and of seat 1 stand."""
    red, blue = state.boards
    return set(tiles_of(red)), set(tiles_of(blue))


def refusal(state: State, move: Move | str) -> str:
    """The rule that forbids the move; fails when it is accepted."""
    with pytest.raises(MoveIllegal) as refused:
        played(state, move)
    assert refused.value.rule in TITLE.rules
    assert refused.value.detail
    return refused.value.rule


class Turn(NamedTuple):
    """One turn of a game, and the positions around it."""

    before: State
    seat: int
    move: Play | Discard
    after: State


def turns(seed: int, options: Options | None = None) -> Iterator[Turn]:
    """A whole random game."""
    random, dice = Random(seed), Dice(seed)
    state = TITLE.setup(options or Options(), 2, dice)
    while not state.is_over:
        seat = state.turn
        move = random.choice(TITLE.legal_moves(state, seat))
        after = TITLE.apply(state, seat, move, dice)
        yield Turn(state, seat, move, after)
        state = after


EVERY_OPTION = [
    Options(rounds=rounds, lane_order=lanes, start=start)
    for rounds in (3, 4)
    for lanes in ("fixed", "shuffled")
    for start in ("random", 0, 1)
]


@st.composite
def positions(draw: st.DrawFn) -> State:
    """Any placement of up to nine pieces each, crowded ones too, with any supplies, hands and lanes."""
    places = draw(st.permutations(TILES))
    red, blue = draw(st.integers(0, PIECES)), draw(st.integers(0, PIECES))
    hand = st.lists(st.integers(0, 5), min_size=1, max_size=9).map(counted)
    supply = st.sampled_from((0, 1, PIECES))
    return State(
        boards=(board(places[:red]), board(places[red : red + blue])),
        supply=(draw(supply), draw(supply)),
        hands=(draw(hand), draw(hand)),
        start=draw(st.integers(0, 1)),
        lanes=tuple(draw(st.permutations(range(6)))),
    )
