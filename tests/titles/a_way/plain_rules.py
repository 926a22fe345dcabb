"""Movement once more, slow and plain, from the printed tables of the rules: what flight is compared with.

Cells and sides are worked out track by track, by names. The title shares nothing with this but positions.
"""

from typing import NamedTuple

from services.titles.a_way.components import CARDS, STOPS
from services.titles.a_way.state import State

OVER = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
CLOCKWISE = "NESW"
RING = ["N", "ne", "E", "se", "S", "sw", "W", "nw"]

SOLAR = {
    "S1": ("cw", "ne se sw nw"),
    "S2": ("ccw", "ne se sw nw"),
    "S3": ("cw", "n e s w"),
    "S4": ("ccw", "n e s w"),
    "S5": ("cw", "e w nw se"),
    "S6": ("ccw", "e w ne sw"),
    "S7": ("cw", "e w"),
    "S8": ("ccw", "e w"),
    "S9": ("cw", "nw se"),
}
PATTERNS = {
    "P1": ["N S"],
    "P2": ["N E"],
    "P3": ["N c S", "E c W"],
    "P4": ["N > S", "W a E"],
    "P5": ["N v S", "E v W"],
    "P6": ["N S", "E W"],
    "P7": ["N E", "S W"],
    "P8": ["N n e E", "N n s S", "E e s S"],
    "P9": ["S > N", "W > a b > N"],
    "P10": ["N n e E", "N n s S", "N n w W", "E e s S", "E e w W", "S s w W"],
}


class Chart(NamedTuple):
    """A map by names. `cards`: by cell, id and rotation; `bases`: by cell, name."""

    cards: dict[tuple[int, int], tuple[str, int]]
    bases: dict[tuple[int, int], str]


def chart(state: State) -> Chart:
    cards = {(x, y): (CARDS[card].id, rot) for card, x, y, rot in state.sky.cards}
    return Chart(cards, {cell: CLOCKWISE[n] for n, cell in enumerate(state.sky.bases) if cell})


def ways(card: str, rot: int, free: bool) -> list[list[str]]:
    """All ways over a card, as side, stations, side; sides as they lie on the map."""
    found = []
    if card in SOLAR:
        arrow, stations = SOLAR[card]
        for start in CLOCKWISE:
            for end in CLOCKWISE.replace(start, ""):
                found.append([start, *_round(start, end, arrow, stations.split()), end])
                if free:
                    found.append(found[-1][::-1])
    else:
        for track in PATTERNS[card[2:]]:
            way = track.replace("> ", "").split()
            found.append(way)
            if free or ">" not in track:
                found.append(way[::-1])
    return [[_on_map(word, rot) for word in way] for way in found]


def _round(start: str, end: str, arrow: str, stations: list[str]) -> list[str]:
    step = 1 if arrow == "cw" else -1
    at = RING.index(start)
    passed = [start.lower()]
    while RING[at % 8] != end:
        passed.append(RING[at % 8])
        at += step
    return [slot for slot in (*passed, end.lower()) if slot in stations]


def _on_map(word: str, rot: int) -> str:
    return CLOCKWISE[(CLOCKWISE.index(word) + rot) % 4] if word in OVER else word


def stops(sky: Chart, at: str, free: bool) -> set[str]:
    """Names of the stops that are reached without passing another one."""
    found: set[str] = set()
    done: set[tuple[tuple[int, int], str]] = set()

    def leave(cell: tuple[int, int], side: str) -> None:
        there = (cell[0] + OVER[side][0], cell[1] + OVER[side][1])
        entered = _on_map(side, 2)
        if (there, entered) in done:
            return
        done.add((there, entered))
        if there in sky.bases:
            found.add(sky.bases[there])
        if there in sky.cards:
            for way in ways(*sky.cards[there], free):
                if way[0] == entered:
                    follow(there, way[1])

    def follow(cell: tuple[int, int], word: str) -> None:
        if word in OVER:
            leave(cell, word)
        else:
            found.add(f"{sky.cards[cell][0]}.{word}")

    if at in OVER:
        (cell,) = (cell for cell, base in sky.bases.items() if base == at)
        for side in OVER:
            leave(cell, side)
        return found
    card, slot = at.split(".")
    ((cell, rot),) = ((cell, rot) for cell, (laid, rot) in sky.cards.items() if laid == card)
    for way in ways(card, rot, free):
        if slot in way:
            follow(cell, way[way.index(slot) + 1])
    if slot == "v":
        found |= {f"{laid}.v" for laid, _ in sky.cards.values() if laid.endswith("P5") and laid != card}
    return found


def destinations(sky: Chart, ship: str, home: str | None, others: set[str], free: bool) -> set[str]:
    result: set[str] = set()
    seen, todo = {ship}, [ship]
    while todo:
        for stop in stops(sky, todo.pop(), free):
            if stop in OVER:
                result |= {stop} & {home or ""}
            elif stop in others:
                if stop not in seen:
                    seen.add(stop)
                    todo.append(stop)
            else:
                result.add(stop)
    return result - {ship}


def hyperdrive(sky: Chart, ship: str, home: str, others: set[str]) -> set[str]:
    result: set[str] = set()
    for first in stops(sky, ship, False) - {ship}:
        if first == home:
            result.add(home)
        elif first not in OVER:
            result |= destinations(sky, first, home, others, False)
    return result - {ship} or destinations(sky, ship, home, others, False)


def other_ships(state: State, seat: int) -> set[str]:
    return {STOPS[stop] for other, stop in enumerate(state.ships) if other != seat}
