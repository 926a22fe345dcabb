"""Positions, luck and moves for these tests, in the words of the rules."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Literal

import pytest

from services.core.errors import MoveIllegal
from services.titles.a_way_back_home import VERSIONS, board
from services.titles.a_way_back_home.components import COLOUR_OF, COLOURS, SIDES
from services.titles.a_way_back_home.moves import Draw, Move, Options, Place, Take
from services.titles.a_way_back_home.notation import notation, parse
from services.titles.a_way_back_home.state import UNLIT, Cells, Counts, State
from tests.titles.dice import Dice

TITLE = VERSIONS[1]


class Given:
    """Luck that draws the named crystals, and none where none are named."""

    def __init__(self, *crystals: str) -> None:
        self._colours = [COLOUR_OF[crystal] for crystal in crystals]

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        raise AssertionError("nothing is shuffled")

    def draw(self, bag: Sequence[Any], n: int) -> list[Any]:
        assert len(self._colours) == n
        assert all(colour in bag for colour in self._colours)
        return list(self._colours)

    def below(self, n: int) -> int:
        raise AssertionError("no number was asked for")


NO_LUCK = Given()


def counts(**crystals: int) -> Counts:
    return tuple(crystals.get(colour, 0) for colour in COLOURS)


def filled(side: Literal["A", "B"] = "A", cells: Cells = UNLIT, **paths: int) -> Cells:
    """A board where each named path is lit up to a front, by crystals of its colour where still empty."""
    for path, front in paths.items():
        colour = COLOUR_OF[path]
        while board.front(SIDES[side], cells, colour) < front:
            after = board.lit(SIDES[side], cells, colour, colour)
            assert after is not None
            cells = after
    return cells


def position(*boards: Cells, bags: Sequence[int] = (), drawn: str = "", **rest: Any) -> State:
    """Seat 0 is to move; two empty boards, and nine blue crystals in each bag, unless said otherwise."""
    seats = boards if len(boards) > 1 else (*boards, UNLIT, UNLIT)[:2]
    sizes = (*bags, *(9,) * (len(seats) - len(bags)))
    return State(
        boards=seats,
        bags=tuple(counts(blue=size) for size in sizes),
        drawn=tuple(sorted(COLOUR_OF[crystal] for crystal in drawn.split())),
        **rest,
    )


def play(state: State, *lines: str, luck: Given | Dice = NO_LUCK) -> State:
    """The position after these moves, in notation, each by the seat whose turn it is."""
    for line in lines:
        state = TITLE.apply(state, state.turn, parse(line), luck)
    return state


def refused(state: State, line: str) -> str:
    """The id of the rule that forbids the move."""
    with pytest.raises(MoveIllegal) as refusal:
        play(state, line, luck=Given("blue", "blue", "blue"))
    assert refusal.value.rule in TITLE.rules
    return refusal.value.rule


def legal(state: State) -> list[str]:
    return [notation(move) for move in TITLE.legal_moves(state, state.turn)]


def fronts(state: State, seat: int = 0) -> dict[str, int]:
    """The fronts of the paths that have got off the centre."""
    shown = TITLE.view(state, None).players[seat].fronts
    return {path: front for path, front in shown.items() if front}


def scores(state: State) -> tuple[int, ...]:
    return tuple(player.score for player in TITLE.view(state, None).players)


def pool(state: State) -> dict[str, int]:
    return {colour: count for colour, count in TITLE.view(state, None).pool.items() if count}


def chosen(moves: list[Move], random: Random, declares: bool = True) -> Move:
    """Draws or takes by the toss of a coin; declares the end as soon as allowed, or never."""
    ends = [move for move in moves if isinstance(move, Place) and move.declare_end]
    if ends and declares:
        return random.choice(ends)
    kind = random.choice([Draw, Take])
    some = [move for move in moves if isinstance(move, kind)] or [move for move in moves if move not in ends]
    return random.choice(some)


def playout(
    options: Options, seats: int, seed: int, declares: bool = True
) -> Iterator[tuple[State, Move, State]]:
    """A random match, move by move: the position before, the move, the position after."""
    luck, random = Dice(seed), Random(-1 - seed)
    state = TITLE.setup(options, seats, luck)
    while acting := TITLE.to_act(state):
        (seat,) = acting
        move = chosen(list(TITLE.legal_moves(state, seat)), random, declares)
        after = TITLE.apply(state, seat, move, luck)
        yield state, move, after
        state = after


def last(options: Options, seats: int, seed: int, declares: bool = True) -> State:
    """How a random match ends."""
    *_, (_, _, end) = playout(options, seats, seed, declares)
    return end


SIDE_A = Options()
CHARACTERS = [Options(side="B", character=character) for character in range(6)]
