"""Why a move is refused: the rules by id, and the first one that a refused move breaks.

Not on the path of a legal move, so clear rather than quick: it asks one rule after the other.
"""

from services.core.errors import MoveIllegal

from .moves import REACH, AdventurerMove, GuideMove, Move
from .points import Point, line_distance, neighbours, ring, straight
from .state import COLOURS, State

RULES = {
    "point-on-board": "Both ends of a move are points of the board.",
    "own-guide": "A guide move begins on a guide of the mover.",
    "own-adventurer": "An adventurer move begins on an adventurer of the mover.",
    "guide-goes-straight": "A guide moves along one straight line of points.",
    "guide-lands-on-empty": "A guide lands on an empty point.",
    "guide-passes-one-enemy-guide": "A guide passes exactly one piece, and that is an enemy guide.",
    "adventurer-stops-out-of-contact": (
        "An adventurer stops on the first point that is next to none of the pieces it follows."
    ),
    "adventurer-captures-kind-followed": (
        "An adventurer lands on an empty point or on an enemy piece of the kind it follows."
    ),
    "adventurer-follows-own-pieces": (
        "Every point that an adventurer crosses is empty and next to an own piece of the kind followed; "
        "the journey begins in such contact, at its start or with its first step."
    ),
    "inward": (
        "A move ends in a ring nearer the centre, or in the same ring nearer to the closest central line."
    ),
}

Broken = tuple[str, str]  # the id of the rule, and what about the move breaks it


def refusal(state: State, seat: int, move: Move) -> MoveIllegal:
    """The error for `move`, which is not legal for `seat`."""
    for point in (move.from_, move.to):
        if point not in state.geometry.bit_of:
            return MoveIllegal("point-on-board", f"{_at(point)} is not on the board of size {state.size}")
    if isinstance(move, GuideMove):
        return MoveIllegal(*_broken_by_guide(state, seat, move))
    return MoveIllegal(*_broken_by_adventurer(state, seat, move))


def _broken_by_guide(state: State, seat: int, move: GuideMove) -> Broken:
    start, end = _at(move.from_), _at(move.to)
    if state.occupant(move.from_) != (seat, "guide"):
        return "own-guide", f"{start} holds {_named(state, move.from_)}, no {COLOURS[seat]} guide"
    between = straight(move.from_, move.to)
    if between is None:
        return "guide-goes-straight", f"no straight line leads from {start} to {end}"
    if state.occupant(move.to):
        return "guide-lands-on-empty", f"{end} holds {_named(state, move.to)}"
    met = [point for point in between if state.occupant(point)]
    if [state.occupant(point) for point in met] != [(1 - seat, "guide")]:
        pieces = ", ".join(f"{_named(state, point)} on {_at(point)}" for point in met) or "nothing"
        return "guide-passes-one-enemy-guide", f"between {start} and {end} stands {pieces}"
    return "inward", _not_inward(move)


def _broken_by_adventurer(state: State, seat: int, move: AdventurerMove) -> Broken:
    start, end, followed = _at(move.from_), _at(move.to), f"{COLOURS[seat]} {move.ref}"
    if state.occupant(move.from_) != (seat, "adventurer"):
        return "own-adventurer", f"{start} holds {_named(state, move.from_)}, no {COLOURS[seat]} adventurer"
    if state.occupant(move.to) not in (None, (1 - seat, move.ref)):
        return "adventurer-captures-kind-followed", f"{end} holds {_named(state, move.to)}"
    others = (point for point in neighbours(move.to, state.size) if point != move.from_)
    if any(state.occupant(point) == (seat, move.ref) for point in others):
        return "adventurer-stops-out-of-contact", f"{end} is next to a {followed}"
    if (ring(move.to), line_distance(move.to)) >= (ring(move.from_), line_distance(move.from_)):
        return "inward", _not_inward(move)
    return "adventurer-follows-own-pieces", f"no way from {start} to {end} follows {followed}s"


def _not_inward(move: Move) -> str:
    def where(point: Point) -> str:
        return f"{_at(point)} is in ring {ring(point)}, {line_distance(point)} from a central line"

    return f"{where(move.to)}; {where(move.from_)}"


def _named(state: State, point: Point) -> str:
    occupant = state.occupant(point)
    return f"a {COLOURS[occupant[0]]} {occupant[1]}" if occupant else "nothing"


def _at(point: Point) -> str:
    # Decoded moves stay within REACH; whoever builds one by hand may pass a number too long to print.
    q, r = (f"{x}" if abs(x) <= REACH else "beyond" for x in point)
    return f"[{q}, {r}]"
