"""The walk of a game: the set-up, the moves there are, what a move does, and whose turn is next."""

from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from .components import Geometry, bits, geometry
from .moves import AdventurerMove, GuideMove, Kind, Move, Options
from .points import Point, side
from .refusals import refusal
from .state import State, by_seat
from .travel import guide_landings, guide_passed, journey_ends, trail


def setup(options: Options) -> State:
    """Guides on every side of the two outer rings, corners free; colours alternate and face each other."""
    size = options.size
    guides = [0, 0]
    for k in range(6):
        for seat, d in ((k % 2, size - 1), (1 - k % 2, size - 2)):
            guides[seat] |= geometry(size).mask(side(d, k))
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
    if not _adventurer_may(state, seat, start, end, move.ref):
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
    """Guide by guide, its moves, if any."""
    board, occupied, enemy_guides = state.geometry, state.occupied, state.guides[1 - seat]
    for start in bits(state.guides[seat]):
        landings = guide_landings(board, occupied, enemy_guides, start)
        if landings:
            origin = board.point_of[start]
            yield [GuideMove(origin, to) for to in landings]


def _adventurer_moves(state: State, seat: int) -> Iterator[list[AdventurerMove]]:
    """Adventurer by adventurer, its moves, if any: along guides, then what only adventurers allow."""
    board, occupied, adventurers = state.geometry, state.occupied, state.adventurers[seat]
    capturable = state.adventurers[1 - seat]
    along_guides = trail(board, occupied, state.guides[seat], state.guides[1 - seat])
    for start in bits(adventurers):
        by_guides = journey_ends(board, along_guides, start)
        if by_guides:
            yield _journeys(board, start, by_guides, "guide")
        if (others := adventurers ^ start) & board.around[start]:
            along_others = trail(board, occupied, others, capturable)
            by_adventurers = journey_ends(board, along_others, start) & ~by_guides
            if by_adventurers:
                yield _journeys(board, start, by_adventurers, "adventurer")


def _journeys(board: Geometry, start: int, ends: int, ref: Kind) -> list[AdventurerMove]:
    origin = board.point_of[start]
    return [AdventurerMove(origin, to, ref) for to in board.listed(ends)]


def _guide_may(state: State, seat: int, start: int, to: Point) -> bool:
    """Whether a guide of `seat` stands at `start` and may move to `to`."""
    if not start & state.guides[seat]:
        return False
    return to in guide_landings(state.geometry, state.occupied, state.guides[1 - seat], start)


def _adventurer_may(state: State, seat: int, start: int, end: int, ref: Kind) -> bool:
    """Whether an adventurer of `seat` stands at `start` and may go to `end` along pieces `ref`."""
    if not start & state.adventurers[seat]:
        return False
    followed, capturable = state.pieces(seat, ref) & ~start, state.pieces(1 - seat, ref)
    along = trail(state.geometry, state.occupied, followed, capturable)
    return bool(end & journey_ends(state.geometry, along, start))


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
