"""Positions, luck and moves for these tests, in the words of the rules."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from services.core.errors import MoveIllegal
from services.titles.a_way import VERSIONS
from services.titles.a_way.components import CARDS, DRAWN, NUMBER, STOP, STOPS
from services.titles.a_way.flight import destinations, distance, hyperdrive
from services.titles.a_way.moves import Discard, Move, MoveShip, Options, PlayCard
from services.titles.a_way.notation import notation, parse
from services.titles.a_way.star_map import Laid, StarMap
from services.titles.a_way.state import State
from tests.titles.dice import BaglessDice as Dice

TITLE = VERSIONS[1]
ROW = "S1 S3 S5 S7 S9"


class NoLuck(Dice):
    """Luck that nobody may ask for."""

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        raise AssertionError("nothing is shuffled")

    def below(self, n: int) -> int:
        raise AssertionError("no number was asked for")


class Reversing(Dice):
    """A shuffle that turns the cards' order round."""

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        self.asked.append(f"shuffle {len(items)}")
        return list(reversed(items))


NO_LUCK = NoLuck(0)


def numbers(ids: str) -> tuple[int, ...]:
    return tuple(NUMBER[card] for card in ids.split())


def ids(cards: Sequence[int]) -> str:
    return " ".join(CARDS[card].id for card in cards)


def sky(row: str = ROW, **laid: tuple[int, int, int]) -> StarMap:
    """Two players' map: a line of Solar cards between the bases W and E, and more cards at (x, y, rot)."""
    line = [Laid(card, x, 0, 0) for x, card in enumerate(numbers(row))]
    line += (Laid(NUMBER[card], *place) for card, place in laid.items())
    return StarMap(tuple(sorted(line)), (None, (len(row.split()), 0), None, (-1, 0)))


def position(
    *ships: str,
    hand: str = "",
    hand_1: str = "",
    draw: str | None = None,
    discard: str = "A4-unknown_fate",
    on: StarMap | None = None,
    **rest: Any,
) -> State:
    """Seat 0 is to move, its home is W. Two ships; on their start bases E and W unless said otherwise.

    `draw`: what the draw pile holds, top first; without it, all cards that are nowhere else.
    """
    lies = on or sky()
    hands = (tuple(sorted(numbers(hand))), tuple(sorted(numbers(hand_1))))
    gone = {*hands[0], *hands[1], *numbers(discard), *lies.places}
    pile = tuple(card for card in DRAWN if card not in gone) if draw is None else numbers(draw)
    at = (*ships, *("E", "W")[len(ships) :])
    settings: dict[str, Any] = {"players": 2, "start": 0, "turn": 0} | rest
    return State(
        sky=lies,
        ships=tuple(STOP[stop] for stop in at),
        hands=hands,
        draw_pile=pile,
        discard=numbers(discard),
        **settings,
    )


def play(state: State, *lines: str, luck: Dice = NO_LUCK) -> State:
    """The position after these moves, in notation, each by the seat whose turn it is."""
    for line in lines:
        state = TITLE.apply(state, state.turn, parse(line), luck)
    return state


def refused(state: State, line: str) -> str:
    """The id of the rule that forbids the move."""
    with pytest.raises(MoveIllegal) as refusal:
        play(state, line)
    assert refusal.value.rule in TITLE.rules
    return refusal.value.rule


def legal(state: State, kind: str = "") -> list[str]:
    """The legal moves that begin with these words, without them."""
    lines = [notation(move) for move in TITLE.legal_moves(state, state.turn)]
    return [line.removeprefix(kind).strip() for line in lines if line.startswith(kind)]


def names(stops: set[int]) -> set[str]:
    return {STOPS[stop] for stop in stops}


def flights(state: State, seat: int = 0, free: bool = False, home: bool = True) -> set[str]:
    """Where one movement of the seat's ship may end."""
    base = state.home(seat) if home else None
    return names(destinations(state.sky, state.ships[seat], base, state.others(seat), free))


def hyperdrives(state: State, seat: int = 0) -> set[str]:
    return names(hyperdrive(state.sky, state.ships[seat], state.home(seat), state.others(seat)))


def way_home(state: State, seat: int = 0) -> int | None:
    return distance(state.sky, state.ships[seat], state.home(seat))


def chosen(state: State, random: Random) -> Move:
    """A random legal move, whose kind is drawn first: flights 45 %, cards 40 %, anything else 15 %."""
    moves = list(TITLE.legal_moves(state, state.turn))
    pools = [
        [move for move in moves if isinstance(move, MoveShip)],
        [move for move in moves if isinstance(move, PlayCard)],
        [move for move in moves if not isinstance(move, MoveShip | PlayCard)],
    ]
    (pool,) = random.choices(
        pools, [weight * bool(pool) for weight, pool in zip((45, 40, 15), pools, strict=True)]
    )
    return random.choice(pool)


def playout(seats: int, seed: int, luck: Dice | None = None) -> Iterator[tuple[State, Move, State]]:
    """A random match, move by move: the position before, the move, the position after."""
    luck, random = luck or Dice(seed), Random(-1 - seed)
    state = TITLE.setup(Options(), seats, luck)
    while TITLE.to_act(state):
        move = chosen(state, random)
        after = TITLE.apply(state, state.turn, move, luck)
        yield state, move, after
        state = after


def racing(state: State) -> Move:
    """The flight that leaves the shortest way home, or a discard."""
    seat = state.turn
    found = destinations(state.sky, state.ships[seat], state.home(seat), state.others(seat))
    ways = {stop: distance(state.sky, stop, state.home(seat)) for stop in sorted(found)}
    best = min(ways, key=lambda stop: 99 if ways[stop] is None else ways[stop] or 0, default=None)
    return parse(f"fly {STOPS[best]}") if best is not None else Discard((CARDS[state.hand[0]].id,))
