"""Moves as short texts: what moves, then from and to as axial `q,r`.

`G7,-1:5,-1` is a guide's move. `AG4,0:3,0` is an adventurer's that follows own guides, `AA4,0:3,0` one
that follows own adventurers.
"""

import re

from services.core.errors import MoveUnreadable

from .moves import AdventurerMove, GuideMove, Move

_NUMBER = "(0|-?[1-9])"
_MOVE = re.compile(f"(G|AG|AA){_NUMBER},{_NUMBER}:{_NUMBER},{_NUMBER}")
_SHOWN = 40  # characters of an unreadable text that its refusal repeats


def notation(move: Move) -> str:
    """The text that `parse` reads back to `move`."""
    (q, r), (to_q, to_r) = move.from_, move.to
    return f"{_heading(move)}{q},{r}:{to_q},{to_r}"


def parse(text: str) -> Move:
    """Raises MoveUnreadable for any text that `notation` never writes."""
    match = _MOVE.fullmatch(text)
    if match is None:
        raise MoveUnreadable(f"{text[:_SHOWN]!r} is not like G7,-1:5,-1, AG4,0:3,0 or AA4,0:3,0")
    heading = match[1]
    q, r, to_q, to_r = map(int, match.groups()[1:])
    if heading == "G":
        return GuideMove((q, r), (to_q, to_r))
    return AdventurerMove((q, r), (to_q, to_r), "guide" if heading == "AG" else "adventurer")


def _heading(move: Move) -> str:
    if isinstance(move, GuideMove):
        return "G"
    return "AG" if move.ref == "guide" else "AA"
