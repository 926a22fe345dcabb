"""Which lists a match stands in. A list is named by title, status and audience; * is any.

Public matches stand in the public lists and in their players' own; private ones in their players'
own only, so that no list tells a stranger of them.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
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


Places = Mapping[str, int]  # list name -> the score that a match has there: UTC ms of its creation


def lists_of(summary: Summary | None) -> Places:
    """Where a match stands."""
    if summary is None:
        return {}
    half = summary.known
    return _lists(half.title, summary.status, half.private, half.players, summary.created_at)


# A move changes none of these, so most folds ask twice for what was asked for at the last one.
@lru_cache(maxsize=4096)
def _lists(title: str, status: Status, private: bool, players: tuple[str, ...], score: int) -> Places:
    names = product((title, ANY), (status, ANY), tuple(_audiences(private, players)))
    return {str(ListName(*name)): score for name in names}


def _audiences(private: bool, players: tuple[str, ...]) -> Iterator[str]:
    if not private:
        yield PUBLIC
    for player in {player for player in players if player}:
        yield own(player)
        if not private:
            yield shown(player)
