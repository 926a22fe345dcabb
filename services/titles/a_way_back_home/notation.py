"""Moves as short text: `draw`, `take g2 w1`, `place g w>b end`. The README shows the table."""

import re
from contextlib import suppress

import msgspec

from services.core.errors import MoveUnreadable
from services.titles.a_way_back_home.components import COLOURS, LETTERS
from services.titles.a_way_back_home.moves import Crystals, Draw, Move, Place, Placement, Take

_LETTERS = dict(zip(COLOURS, LETTERS, strict=True))
_NAMES = {letter: name for name, letter in _LETTERS.items()}
_AMOUNT = re.compile(r"([gpukobw])([1-9][0-9]?)")
_PLACEMENT = re.compile(r"([gpukobw])(?:>([gpukob]))?")
_NONE = "-"
_END = "end"


def notation(move: Move) -> str:
    match move:
        case Draw():
            return "draw"
        case Take(crystals):
            amounts = zip(COLOURS, crystals.counts, strict=True)
            return _line("take", [f"{_LETTERS[colour]}{count}" for colour, count in amounts if count])
        case Place(placements, declare_end):
            line = _line("place", [_placement(placement) for placement in placements])
            return f"{line} {_END}" if declare_end else line


def parse(text: str) -> Move:
    """Reads exactly what `notation` writes. Raises MoveUnreadable."""
    verb, *words = text.split(" ")
    with suppress(KeyError, ValueError):
        move = _PARSERS[verb](words)
        if notation(move) == text:
            return move
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    raise MoveUnreadable(f"{shown!r} is no notation like 'draw', 'take g2 w1' or 'place g w>b end'")


def _line(verb: str, words: list[str]) -> str:
    return " ".join([verb, *(words or [_NONE])])


def _placement(placement: Placement) -> str:
    crystal, path = _LETTERS[placement.crystal], _LETTERS[placement.path]
    return crystal if crystal == path else f"{crystal}>{path}"


def _read_draw(words: list[str]) -> Move:
    return Draw()


def _read_take(words: list[str]) -> Move:
    amounts = {}
    for word in words:
        if word != _NONE:
            letter, count = _groups(_AMOUNT, word)
            amounts[_NAMES[letter]] = int(count)
    return Take(msgspec.convert(amounts, Crystals))


def _read_place(words: list[str]) -> Move:
    placements = []
    for word in words:
        if word not in (_NONE, _END):
            crystal, path = _groups(_PLACEMENT, word)
            placements.append({"crystal": _NAMES[crystal], "path": _NAMES[path or crystal]})
    return msgspec.convert({"placements": placements, "declare_end": _END in words, "type": "place"}, Place)


def _groups(pattern: re.Pattern[str], word: str) -> tuple[str, str]:
    """Raises ValueError."""
    found = pattern.fullmatch(word)
    if found is None:
        raise ValueError(word)
    return found[1], found[2]


_PARSERS = {"draw": _read_draw, "take": _read_take, "place": _read_place}
