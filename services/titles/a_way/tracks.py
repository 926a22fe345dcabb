"""Where a ship on a card can go next: tables made once from the printed tracks.

A step is what comes next on a track: a station (its stop number, from 4 on), or a side of the map
to leave the card by (0-3 for N, E, S, W; no base lies on a card, so the numbers cannot clash).
`free` means ignoring arrows, `rot` a card's quarter turns clockwise.
"""

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import NamedTuple

from services.titles.a_way.components import CARD_OF, CARDS, FIRST_STATION, SIDES, STOP, STOPS, Arrow, Card

_SIDES: tuple[str, ...] = SIDES
_RING: tuple[str, ...] = ("N", "ne", "E", "se", "S", "sw", "W", "nw")


class Track(NamedTuple):
    """From one printed side through stations to another. `one_way`: never the other way round."""

    start: int
    stations: tuple[int, ...]
    end: int
    one_way: bool


def tracks(card: Card) -> list[Track]:
    """All tracks of a card's face, sides as printed."""
    if card.arrow:
        return list(_roundabout(card, card.arrow))
    return [_printed(card, text) for text in card.tracks]


def _printed(card: Card, text: str) -> Track:
    start, *slots, end = text.replace(" >", "").split()
    return Track(_SIDES.index(start), _stations(card, slots), _SIDES.index(end), ">" in text)


def _roundabout(card: Card, arrow: Arrow) -> Iterator[Track]:
    ring = _RING if arrow == "cw" else _RING[::-1]
    for start, end in permutations(_SIDES, 2):
        turned = ring[ring.index(start) :] + ring[: ring.index(start)]
        slots = (start.lower(), *turned[1 : turned.index(end)], end.lower())
        yield Track(_SIDES.index(start), _stations(card, slots), _SIDES.index(end), one_way=True)


def _stations(card: Card, slots: Iterable[str]) -> tuple[int, ...]:
    """The stops of those slots that are stations of this card."""
    return tuple(STOP[f"{card.id}.{slot}"] for slot in slots if slot in card.slots)


def _paths(card: Card, free: bool) -> Iterator[tuple[int, ...]]:
    """Every way through a card: start side, stations, end side; sides as printed."""
    for track in tracks(card):
        path = (track.start, *track.stations, track.end)
        yield path
        if free or not track.one_way:
            yield path[::-1]


def _enter(card: Card, free: bool, rot: int, side: int) -> tuple[int, ...]:
    """The first steps of a ship that comes in over a side of the map."""
    printed = (side - rot) % 4
    steps = {_turned(path, rot)[1] for path in _paths(card, free) if path[0] == printed}
    return tuple(sorted(steps))


def _ahead(stop: int, free: bool, rot: int) -> tuple[int, ...]:
    """The next steps of a ship that stands on a station."""
    steps = {
        _turned(path, rot)[path.index(stop, 1, -1) + 1]
        for path in _paths(CARDS[CARD_OF[stop]], free)
        if stop in path[1:-1]
    }
    return tuple(sorted(steps))


def _turned(path: tuple[int, ...], rot: int) -> tuple[int, ...]:
    """`path` with its sides as they lie on the map."""
    return ((path[0] + rot) % 4, *path[1:-1], (path[-1] + rot) % 4)


# ENTER[free][card * 4 + rot][side of the map]: steps; Action cards have none.
ENTER = tuple(
    tuple(tuple(_enter(card, free, rot, side) for side in range(4)) for card in CARDS for rot in range(4))
    for free in (False, True)
)

# AHEAD[free][stop * 4 + rot]: steps; bases have none.
AHEAD = tuple(
    tuple(
        _ahead(stop, free, rot) if stop >= FIRST_STATION else ()
        for stop in range(len(STOPS))
        for rot in range(4)
    )
    for free in (False, True)
)
