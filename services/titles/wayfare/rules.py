"""The walk of a game: the set-up, the moves there are, what a move does, and whose turn is next."""

from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from .components import Point, bits, geometry, side
from .moves import AdventurerMove, GuideMove, Kind, Move, Options
from .refusals import refusal
from .state import State, by_seat
from .travel import adventurer_landings, guide_landings, guide_passed


def setup(options: Options) -> State:
    """Guides on every side of the two outer rings, corners free; colours alternate and face each other."""
    size = options.size
    bit_of = geometry(size).bit_of
    guides = [0, 0]
    for k in range(6):
        for seat, d in ((k % 2, size - 1), (1 - k % 2, size - 2)):
            guides[seat] |= sum(bit_of[point] for point in side(d, k))
    return State(size, options.final_compare, (guides[0], guides[1]), (0, 0), turn=0)


def legal_moves(state: State, seat: int) -> list[Move]:
    """Guides before adventurers, each in board order. What both values of `ref` allow is listed by guides."""
    if seat != state.turn:
        return []
    return [
        *chain.from_iterable(_guide_moves(state, seat)),
        *chain.from_iterable(_adventurer_moves(state, seat)),
    ]


def apply(state: State, seat: int, move: Move) -> State:
    """The position after `move`, forced pass included. Raises MoveIllegal."""
    bit_of = state.geometry.bit_of
    start, end = bit_of.get(move.from_, 0), bit_of.get(move.to, 0)
    if isinstance(move, GuideMove):
        if not _guide_may(state, seat, start, move.to):
            raise refusal(state, seat, move)
        return settled(_with_guide_moved(state, seat, start, end))
    if not end & _journeys(state, seat, start, move.ref):
        raise refusal(state, seat, move)
    return settled(_with_adventurer_moved(state, seat, start, end))


def settled(state: State) -> State:
    """The same position with the turn where it belongs: a seat without a move passes, two end the game."""
    assert state.turn is not None
    if can_move(state, state.turn):
        return state
    other = 1 - state.turn
    if can_move(state, other):
        return replace(state, turn=other, passed=True)
    return replace(state, turn=None)


def can_move(state: State, seat: int) -> bool:
    """Whether this colour would have a move, were it its turn."""
    return any(_guide_moves(state, seat)) or any(_adventurer_moves(state, seat))


def _guide_moves(state: State, seat: int) -> Iterator[list[GuideMove]]:
    """Guide by guide, its moves."""
    board, occupied, enemy_guides = state.geometry, state.occupied, state.guides[1 - seat]
    for start in bits(state.guides[seat]):
        landings = guide_landings(board, occupied, enemy_guides, start)
        if landings:
            origin = board.point_of[start]
            yield [GuideMove(origin, to) for to in landings]


def _adventurer_moves(state: State, seat: int) -> Iterator[list[AdventurerMove]]:
    """Adventurer by adventurer, its moves: along guides, then what adventurers alone allow."""
    board, occupied = state.geometry, state.occupied
    adventurers = state.adventurers[seat]
    enemy_guides, enemy_adventurers = state.guides[1 - seat], state.adventurers[1 - seat]
    beside_guides = board.beside(state.guides[seat])
    for start in bits(adventurers):
        by_guides = adventurer_landings(board, occupied, beside_guides, enemy_guides, start)
        by_adventurers = 0
        if (others := adventurers ^ start) & board.around[start]:
            contact = board.beside(others)
            by_adventurers = (
                adventurer_landings(board, occupied, contact, enemy_adventurers, start) & ~by_guides
            )
        origin = board.point_of[start]
        yield [AdventurerMove(origin, to, "guide") for to in board.listed(by_guides)]
        yield [AdventurerMove(origin, to, "adventurer") for to in board.listed(by_adventurers)]


def _guide_may(state: State, seat: int, start: int, to: Point) -> bool:
    """Whether a guide of `seat` stands at `start` and may move to `to`."""
    if not start & state.guides[seat]:
        return False
    return to in guide_landings(state.geometry, state.occupied, state.guides[1 - seat], start)


def _journeys(state: State, seat: int, start: int, ref: Kind) -> int:
    """Where the adventurer of `seat` at `start` may go along pieces `ref`; nowhere if there is none."""
    if not start & state.adventurers[seat]:
        return 0
    contact = state.geometry.beside(state.pieces(seat, ref) & ~start)
    capturable = state.pieces(1 - seat, ref)
    return adventurer_landings(state.geometry, state.occupied, contact, capturable, start)


def _with_guide_moved(state: State, seat: int, start: int, end: int) -> State:
    enemy = 1 - seat
    passed = guide_passed(state.geometry, state.guides[enemy], start, end)
    guides = by_seat(seat, state.guides[seat] ^ start ^ end, state.guides[enemy] ^ passed)
    adventurers = by_seat(seat, state.adventurers[seat] | passed, state.adventurers[enemy])
    return State(state.size, state.final_compare, guides, adventurers, enemy, state.ply + 1)


def _with_adventurer_moved(state: State, seat: int, start: int, end: int) -> State:
    enemy = 1 - seat
    guides = by_seat(seat, state.guides[seat], state.guides[enemy] & ~end)
    adventurers = by_seat(seat, state.adventurers[seat] ^ start ^ end, state.adventurers[enemy] & ~end)
    return State(state.size, state.final_compare, guides, adventurers, enemy, state.ply + 1)
