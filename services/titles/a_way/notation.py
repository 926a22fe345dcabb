"""Moves as short texts: `fly S9.se`, `play A2-black_hole col 1`, `discard E1P1 A3-solar_winds`, `skip`.

Every move has exactly one text; the README lists the forms.
"""

import re
from typing import Any, assert_never

from msgspec import UNSET, ValidationError, convert

from services.core.errors import MoveUnreadable
from services.titles.a_way.moves import (
    Discard,
    EndPlay,
    Move,
    MoveShip,
    Params,
    PlayCard,
    ResolveCard,
    Skip,
    stop_name,
)

_NUMBER = "(?:0|-?[1-9][0-9]{0,4})"
_STOP = r"(?:(?P<stop_card>[A-Z0-9]+)\.(?P<station>[a-z]+)|(?P<base>[NESW]))"
_PARAMS = rf"""
    (?:\ (?P<seat>[0-3])(?=\ ))?
    (?:\ {_STOP})?
    (?:\ (?P<card>[SE][A-Z0-9]+))?
    (?:\ (?P<x>{_NUMBER}),(?P<y>{_NUMBER}))?
    (?:\ r(?P<rot>[0-3]))?
    (?:\ (?P<axis>row|col)\ (?P<index>{_NUMBER}))?
"""
_PLAY = re.compile(rf"(?:play\ (?P<played>[A-Za-z0-9_-]+)|resolve){_PARAMS}", re.ASCII | re.VERBOSE)
_FLY = re.compile(f"fly {_STOP}", re.ASCII)
_DISCARD = re.compile(r"discard((?: [A-Za-z0-9_-]+){1,3})", re.ASCII)


def notation(move: Move) -> str:
    match move:
        case MoveShip(dest):
            return f"fly {stop_name(dest)}"
        case PlayCard(card, params):
            return " ".join(("play", card, *_words(params)))
        case ResolveCard(params):
            return " ".join(("resolve", *_words(params)))
        case Discard(cards):
            return " ".join(("discard", *cards))
        case EndPlay():
            return "end"
        case Skip():
            return "skip"
        case _:
            assert_never(move)


def _words(params: Params) -> list[str]:
    words = []
    if params.seat is not UNSET:
        words.append(f"{params.seat}")
    if params.dest is not UNSET:
        words.append(stop_name(params.dest))
    if params.card is not UNSET:
        words.append(params.card)
    if params.cell is not UNSET:
        words.append("{},{}".format(*params.cell))
    if params.rot is not UNSET:
        words.append(f"r{params.rot}")
    if params.axis is not UNSET:
        words.append(f"{params.axis} {params.index}")
    return words


def parse(text: str) -> Move:
    """Raises MoveUnreadable for whatever `notation` does not write."""
    try:
        move: Move = convert(_written(text), Move)
    except ValidationError as error:
        raise MoveUnreadable(f"{text[:60]!r}: {error}") from error
    return move


def _written(text: str) -> dict[str, Any]:
    """The move that `text` spells, as its JSON."""
    if text in ("end", "skip"):
        return {"type": "end_play" if text == "end" else text}
    if found := _FLY.fullmatch(text):
        return {"type": "move", "dest": _stop(found)}
    if found := _DISCARD.fullmatch(text):
        return {"type": "discard", "cards": found[1].split()}
    if found := _PLAY.fullmatch(text):
        if found["played"] is None:
            return {"type": "resolve_card", "params": _params(found)}
        return {"type": "play_card", "card": found["played"], "params": _params(found)}
    raise MoveUnreadable(f"{text[:60]!r} is not like 'fly S9.se', 'play A2-black_hole col 1' or 'skip'")


def _stop(found: re.Match[str]) -> dict[str, str]:
    if found["base"]:
        return {"base": found["base"]}
    return {"card": found["stop_card"], "station": found["station"]}


def _params(found: re.Match[str]) -> dict[str, Any]:
    params: dict[str, Any] = {name: int(found[name]) for name in ("seat", "rot", "index") if found[name]}
    params |= {name: found[name] for name in ("card", "axis") if found[name]}
    if found["x"]:
        params["cell"] = [int(found["x"]), int(found["y"])]
    if found["stop_card"] or found["base"]:
        params["dest"] = _stop(found)
    return params
