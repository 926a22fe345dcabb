"""Moves as text: p and the card, "p17"."""

import re

from services.core.errors import MoveUnreadable

from .moves import Play


def notation(move: Play) -> str:
    return f"p{move.card}"


def parse(text: str) -> Play:
    if not re.fullmatch(r"p-?[0-9]{1,9}", text, re.ASCII):
        raise MoveUnreadable(f"{text[:20]!r} is not like p17")
    return Play(int(text[1:]))
