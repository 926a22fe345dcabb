"""The cards of the game, read from seeds/a_way/cards.toml, and the numbers the rules know them by.

A card is a number: 0-8 Solar, 9-28 Exploration, 29-56 Action, each in the order of the file (the
Exploration and Action cards faction by faction). A stop, where a ship can stand, is a number too:
0-3 are the bases N, E, S, W; from 4 on come the stations, card by card. Both orders are storage format.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from services.core.title import component_data

SLUG = "a_way"

Side = Literal["N", "E", "S", "W"]
Slot = Literal["n", "e", "s", "w", "ne", "se", "sw", "nw", "a", "b", "c", "v"]
Arrow = Literal["cw", "ccw"]
ActionKind = Literal[
    "hyperdrive",
    "pirate_attack",
    "solar_winds",
    "magnetic_field",
    "black_hole",
    "solar_tornado",
    "unknown_fate",
    "scrap_yard",
]
Kind = Literal["solar", "exploration"] | ActionKind
Faction = Annotated[int, Meta(ge=1, le=4)]

SIDES: tuple[Side, ...] = ("N", "E", "S", "W")
FACTIONS = {1: "Comet", 2: "Nebula", 3: "Quasar", 4: "Pulsar"}


class SolarEntry(Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(pattern="^S[1-9]$")]
    arrow: Arrow
    stations: tuple[Slot, ...]


class PatternEntry(Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(pattern="^P[0-9]+$")]
    name: str
    factions: tuple[Faction, ...]
    tracks: tuple[Annotated[str, Meta(pattern="^[NESW]( >)?( [a-z]+)*( >)? [NESW]$")], ...]


class ActionEntry(Struct, frozen=True, forbid_unknown_fields=True):
    kind: ActionKind
    name: str
    factions: tuple[Faction, ...]


class Entries(Struct, frozen=True, forbid_unknown_fields=True):
    """The file as it is written."""

    solar: tuple[SolarEntry, ...]
    pattern: tuple[PatternEntry, ...]
    action: tuple[ActionEntry, ...]


class Card(Struct, frozen=True):
    """A printed card. `tracks`: as the file writes them; a Solar card has an arrow instead."""

    id: str
    kind: Kind
    name: str
    faction: int | None = None
    arrow: Arrow | None = None
    tracks: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()


def _read() -> tuple[Card, ...]:
    entries = msgspec.convert(tomllib.loads(component_data(SLUG, "cards.toml").decode()), Entries)
    cards = (*_solar(entries), *_exploration(entries), *_actions(entries))
    if Counter(card.faction for card in cards) != {None: 9, 1: 12, 2: 12, 3: 12, 4: 12}:
        raise ValueError("cards.toml: expected 9 Solar cards and 12 cards of each faction")
    if [card.kind for card in cards].count("exploration") != 20:
        raise ValueError("cards.toml: expected 20 Exploration cards")
    if len({card.id for card in cards}) != len(cards):
        raise ValueError("cards.toml: two cards share an id")
    return cards


def _solar(entries: Entries) -> Iterator[Card]:
    for entry in entries.solar:
        yield Card(entry.id, "solar", f"Solar card {entry.id}", arrow=entry.arrow, slots=entry.stations)


def _exploration(entries: Entries) -> Iterator[Card]:
    for faction in FACTIONS:
        for entry in entries.pattern:
            if faction in entry.factions:
                words = dict.fromkeys(word for track in entry.tracks for word in track.split())
                slots = msgspec.convert([word for word in words if word.islower()], tuple[Slot, ...])
                yield Card(
                    f"E{faction}{entry.id}",
                    "exploration",
                    entry.name,
                    faction,
                    tracks=entry.tracks,
                    slots=slots,
                )


def _actions(entries: Entries) -> Iterator[Card]:
    for faction in FACTIONS:
        for entry in entries.action:
            if faction in entry.factions:
                yield Card(f"A{faction}-{entry.kind}", entry.kind, entry.name, faction)


CARDS = _read()
SOLAR = range(9)
EXPLORATION = range(9, 29)
ACTIONS = range(29, 57)
DRAWN = range(9, 57)

NUMBER = {card.id: number for number, card in enumerate(CARDS)}
KIND: tuple[Kind, ...] = tuple(card.kind for card in CARDS)
FACTION: tuple[int, ...] = tuple(card.faction or 0 for card in CARDS)

# Stops, named "S9.se" or "E". `STATIONS[card]` are a card's stops; `CARD_OF[stop]` is -1 for a base.
STOPS: tuple[str, ...] = (*SIDES, *(f"{card.id}.{slot}" for card in CARDS for slot in card.slots))
STOP = {name: stop for stop, name in enumerate(STOPS)}
FIRST_STATION = len(SIDES)
STATIONS = tuple(tuple(STOP[f"{card.id}.{slot}"] for slot in card.slots) for card in CARDS)
CARD_OF = tuple(NUMBER.get(name.partition(".")[0], -1) for name in STOPS)

_VORTICES = tuple(stop for stop, name in enumerate(STOPS) if name.endswith(".v"))
OTHER_VORTEX = dict(zip(_VORTICES, reversed(_VORTICES), strict=True))


def opposite(side: int) -> int:
    """The side, or base, across: N and S, E and W."""
    return (side + 2) % 4
