"""Moves as short texts. A tile is a letter and a digit: lanes 0 to 5 are a to f, `c4` is [2,4].

`hammers c3^` advances from c3, `hammers d2<` and `hammers b2>` shift by -1 and +1, `hammers @c1`
enters on c1, `discard hammers` discards. Every move of the schema has one text, and no other.
"""

from collections.abc import Iterator
from typing import assert_never

from services.core.errors import MoveUnreadable
from services.titles.make_way.components import DISCARDS, SYMBOLS, TILES
from services.titles.make_way.moves import Advance, Discard, Enter, Move, Play, Shift, Step, Tile

_LANES = "abcdef"


def notation(move: Move) -> str:
    if isinstance(move, Discard):
        return f"discard {move.card}"
    return f"{move.card} {_step(move.move)}"


def parse(text: str) -> Move:
    """Raises MoveUnreadable."""
    move = _MOVES.get(text)
    if move is None:
        raise MoveUnreadable(f"{text[:24]!r} is not like 'hammers c3^', 'hammers d2<' or 'hammers @c1'")
    return move


def every_move() -> Iterator[Move]:
    """All moves that the schema can say, legal anywhere or not: 864 plays and 6 discards."""
    for symbol in SYMBOLS:
        for tile in TILES:
            yield Play(symbol, Advance(tile))
            yield Play(symbol, Shift(tile, -1))
            yield Play(symbol, Shift(tile, 1))
            yield Play(symbol, Enter(tile))
    yield from DISCARDS


def _step(step: Step) -> str:
    match step:
        case Advance():
            return f"{_name(step.origin)}^"
        case Shift():
            return f"{_name(step.origin)}{'<' if step.dir == -1 else '>'}"
        case Enter():
            return f"@{_name(step.to)}"
        case _:
            assert_never(step)


def _name(tile: Tile) -> str:
    return f"{_LANES[tile[0]]}{tile[1]}"


_MOVES = {notation(move): move for move in every_move()}
