"""Flight: compared with the plain rules in random positions, and the rulings that those cannot show."""

import pytest

from services.titles.a_way import flight
from services.titles.a_way.components import EXPLORATION, FIRST_STATION, SIDES, STATIONS, STOP, STOPS
from services.titles.a_way.star_map import Laid, StarMap
from tests.titles.a_way import plain_rules
from tests.titles.a_way.positions import (
    flights,
    hyperdrives,
    names,
    numbers,
    playout,
    position,
    sky,
    way_home,
)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_stops_are_those_of_the_plain_rules(seats: int) -> None:
    for state, _, _ in list(playout(seats, seed=5))[::17]:
        chart = plain_rules.chart(state)
        bases = [base for base in range(FIRST_STATION) if state.sky.bases[base]]
        for stop in (*bases, *(stop for card in state.sky.places for stop in STATIONS[card])):
            for free in (False, True):
                found = names(set(flight.stops(state.sky, stop, free)))
                assert found == plain_rules.stops(chart, STOPS[stop], free)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_destinations_are_those_of_the_plain_rules(seats: int) -> None:
    for state, _, _ in list(playout(seats, seed=6))[::3]:
        chart = plain_rules.chart(state)
        for seat, ship in enumerate(state.ships):
            home, others = SIDES[state.home(seat)], plain_rules.other_ships(state, seat)
            name = STOPS[ship]
            assert flights(state, seat) == plain_rules.destinations(chart, name, home, others, False)
            assert flights(state, seat, free=True) == plain_rules.destinations(
                chart, name, home, others, True
            )
            assert flights(state, seat, free=True, home=False) == plain_rules.destinations(
                chart, name, None, others, True
            )
            assert hyperdrives(state, seat) == plain_rules.hyperdrive(chart, name, home, others)


def test_a_card_of_every_kind_joins_what_the_tables_say_in_every_rotation() -> None:
    """Bases on all four sides of a lone card show where each of its tracks ends."""
    for card in (*range(9), *EXPLORATION):
        for rot in range(4):
            lone = StarMap((Laid(card, 0, 0, rot),), ((0, -1), (1, 0), (0, 1), (-1, 0)))
            chart = plain_rules.chart(position(on=lone))
            for stop in (*range(4), *STATIONS[card]):
                for free in (False, True):
                    expected = plain_rules.stops(chart, STOPS[stop], free)
                    assert names(set(flight.stops(lone, stop, free))) == expected


def test_several_ships_in_a_row_are_jumped_over() -> None:
    others = {STOP["S7.w"], STOP["S5.e"]}
    found = flight.destinations(sky(), STOP["S7.e"], STOP["W"], others)
    assert names(found) == {"S9.nw", "S5.se"}


def test_a_jump_with_nothing_behind_leads_nowhere() -> None:
    spur = sky(E2P4=(1, 1, 1))
    assert flights(position("S3.s", "E2P4.a", on=spur)) == {"S3.n", "S3.e", "S3.w"}
    assert "E2P4.a" in flights(position("S3.s", on=spur))


def test_foreign_bases_are_closed_and_so_is_the_own_start() -> None:
    assert flights(position("S9.se")) == {"S9.nw", "S7.e"}
    assert flights(position("S9.se"), free=True) == {"S9.nw", "S7.e"}
    assert flights(position("S9.se", "S1.nw"), 1) == {"S1.ne"}


def test_ships_on_a_base_are_nobodys_obstacle() -> None:
    assert "W" in flights(position("S1.sw", "W"))


def test_bases_side_by_side_are_one_movement_apart() -> None:
    bare = StarMap((), (None, (0, 0), None, (-1, 0)))
    state = position(on=bare)
    assert flights(state, 0) == {"W"}
    assert flights(state, 1) == {"E"}
    assert way_home(state) == 1


def test_hyperdrive_moves_by_one_where_there_is_no_second_station() -> None:
    slings = sky("S1 S3 S5 S7", E1P3=(9, 9, 0), E3P3=(9, 10, 0))
    assert hyperdrives(position("E1P3.c", on=slings)) == {"E3P3.c"}


def test_hyperdrive_counts_an_occupied_first_station_and_jumps_none_there() -> None:
    assert hyperdrives(position("S9.se", "S7.e")) == {"S9.nw", "S7.w"}


def test_hyperdrive_ends_neither_on_its_first_stop_nor_where_it_began() -> None:
    """From E1P3.c a track loops over three bends back to E1P3.c."""
    bends = {"E2P2": (10, 8, 2), "E4P2": (9, 8, 1), "E1P7": (10, 9, 3)}
    loop = sky("S1 S3 S5 S7", E1P3=(9, 9, 0), E3P3=(8, 9, 0), E2P4=(9, 10, 1), **bends)
    assert STOP["E1P3.c"] in flight.stops(loop, STOP["E1P3.c"], False)
    assert hyperdrives(position("E3P3.c", on=loop)) == {"E2P4.a"}


def test_hyperdrive_is_impossible_from_a_lone_station() -> None:
    lone = sky("S1 S3 S5 S7", E1P3=(9, 9, 0))
    assert hyperdrives(position("E1P3.c", on=lone)) == set()


def test_the_distance_is_unknown_where_no_way_leads_home() -> None:
    lost = sky(E1P3=(9, 9, 0))
    assert way_home(position("E1P3.c", on=lost)) is None


def test_the_distance_ignores_ships_and_foreign_bases() -> None:
    assert way_home(position("S9.se", "S7.e")) == way_home(position("S9.se"))
    between = StarMap(
        tuple(sorted(Laid(card, x, 0, 0) for card, x in zip(numbers("S3 S4"), (1, 3), strict=True))),
        ((2, 0), (4, 0), None, (0, 0)),
    )
    assert way_home(position("S4.w", on=between)) is None
