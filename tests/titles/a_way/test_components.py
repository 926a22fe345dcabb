"""The printed cards: how many there are of each, and what the tables of the rules say about them."""

from collections import Counter

import pytest

from services.titles.a_way.components import (
    ACTIONS,
    CARDS,
    EXPLORATION,
    FACTION,
    KIND,
    NUMBER,
    OTHER_VORTEX,
    SIDES,
    SOLAR,
    STATIONS,
    STOP,
    STOPS,
)
from services.titles.a_way.tracks import tracks
from tests.titles.a_way.plain_rules import ways


def test_there_are_nine_solar_twenty_exploration_and_twenty_eight_action_cards() -> None:
    assert [KIND[card] for card in SOLAR] == ["solar"] * 9
    assert [KIND[card] for card in EXPLORATION] == ["exploration"] * 20
    assert len(ACTIONS) == 28
    assert len(CARDS) == 57


def test_each_faction_has_five_exploration_and_seven_action_cards() -> None:
    assert Counter(FACTION[card] for card in EXPLORATION) == {1: 5, 2: 5, 3: 5, 4: 5}
    assert Counter(FACTION[card] for card in ACTIONS) == {1: 7, 2: 7, 3: 7, 4: 7}


def test_four_kinds_of_actions_have_four_copies_and_four_have_three() -> None:
    assert Counter(KIND[card] for card in ACTIONS) == {
        "hyperdrive": 4,
        "pirate_attack": 4,
        "solar_winds": 4,
        "magnetic_field": 4,
        "black_hole": 3,
        "solar_tornado": 3,
        "unknown_fate": 3,
        "scrap_yard": 3,
    }


def test_each_pattern_is_there_twice_in_its_two_factions() -> None:
    odd, even = ("P1", "P3", "P5", "P7", "P9"), ("P2", "P4", "P6", "P8", "P10")
    expected = {f"E{faction}{pattern}" for faction in (1, 3) for pattern in odd}
    expected |= {f"E{faction}{pattern}" for faction in (2, 4) for pattern in even}
    assert {CARDS[card].id for card in EXPLORATION} == expected


def test_stations_per_pattern_are_those_of_the_table() -> None:
    counts = {"P1": 0, "P2": 0, "P3": 1, "P4": 1, "P5": 1, "P6": 0, "P7": 0, "P8": 3, "P9": 2, "P10": 4}
    for card in EXPLORATION:
        assert len(STATIONS[card]) == counts[CARDS[card].id[2:]]


def test_the_two_vortex_stations_lead_to_each_other() -> None:
    here, there = STOP["E1P5.v"], STOP["E3P5.v"]
    assert {here: there, there: here} == OTHER_VORTEX


def test_the_faction_holds_what_the_action_table_lists() -> None:
    absent = {"A1-black_hole", "A2-solar_tornado", "A3-unknown_fate", "A4-scrap_yard"}
    assert not absent & NUMBER.keys()


@pytest.mark.parametrize("card", [*SOLAR, *EXPLORATION])
def test_the_tracks_of_a_card_are_those_of_the_table(card: int) -> None:
    face = CARDS[card]
    found = set()
    for track in tracks(face):
        slots = [STOPS[stop].partition(".")[2] for stop in track.stations]
        way = (SIDES[track.start], *slots, SIDES[track.end])
        found |= {way} if track.one_way else {way, way[::-1]}
    assert found == {tuple(way) for way in ways(face.id, 0, free=False)}


@pytest.mark.parametrize(
    ("name", "level", "upright"),
    [
        ("S1", 2, 2),
        ("S2", 2, 2),
        ("S3", 2, 2),
        ("S4", 2, 2),
        ("S5", 3, 1),
        ("S6", 3, 1),
        ("S7", 2, 0),
        ("S8", 2, 0),
        ("S9", 1, 1),
    ],
)
def test_solar_cards_have_as_many_stops_one_way_as_the_other(name: str, level: int, upright: int) -> None:
    stops = {
        (SIDES[track.start], SIDES[track.end]): len(track.stations) for track in tracks(CARDS[NUMBER[name]])
    }
    assert len(stops) == 12
    assert (stops["W", "E"], stops["E", "W"]) == (level, level)
    assert (stops["N", "S"], stops["S", "N"]) == (upright, upright)
