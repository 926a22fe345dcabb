"""Which lists a match stands in. A list is named by title, status and audience; * is any.

Public matches stand in the public lists and in their players' own; private ones in their players'
own only, so that no list tells a stranger of them.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from services.projection.summary import Status, Summary

ANY = "*"
PUBLIC = "public"


def own(player: str) -> str:
    """The audience of a player who asks for the matches that player sits at."""
    return f"own:{player}"


def shown(player: str) -> str:
    """The audience of anyone else who asks for them."""
    return f"shown:{player}"


class ListName(NamedTuple):
    """The name of one list."""

    title: str
    status: Status | str
    audience: str

    def __str__(self) -> str:
        return f"{self.title}|{self.status}|{self.audience}"


def lists_of(summary: Summary | None) -> dict[str, int]:
    """List name -> the score the match has there: UTC ms of its creation."""
    if summary is None:
        return {}
    score = summary.created_at
    half = summary.known
    names = product((half.title, ANY), (summary.status, ANY), _audiences(summary))
    return {str(ListName(*name)): score for name in names}


def _audiences(summary: Summary) -> Iterator[str]:
    half = summary.known
    if not half.private:
        yield PUBLIC
    for player in {player for player in half.players if player}:
        yield own(player)
        if not half.private:
            yield shown(player)
