"""Each card: what it does, and each way in which it is refused."""

import pytest

from services.titles.a_way.components import NUMBER, STOP
from services.titles.a_way.star_map import Laid, StarMap
from tests.titles.a_way.positions import ids, legal, names, numbers, play, position, refused, sky

VORTEX = sky(E1P5=(0, 1, 0))


def test_a_card_must_be_in_the_hand() -> None:
    assert refused(position(hand="E1P1"), "play E1P3 0,1 r0") == "card-in-hand"
    assert refused(position(hand="E1P1"), "play E1P2 0,1 r0") == "card-in-hand"


@pytest.mark.parametrize(
    ("card", "params"),
    [
        ("E1P1", "S9.se"),
        ("E1P1", ""),
        ("E1P1", "E1P3 0,1 r0"),
        ("A1-hyperdrive", "0,1 r0"),
        ("A1-hyperdrive", "1 S9.se"),
        ("A1-pirate_attack", "S9.se"),
        ("A1-magnetic_field", "0,1 r0"),
        ("A1-solar_tornado", "S1 r0"),
        ("A2-black_hole", ""),
        ("A1-unknown_fate", "S9.se"),
        ("A1-scrap_yard", "col 1"),
    ],
)
def test_a_card_takes_its_own_parameters_only(card: str, params: str) -> None:
    assert refused(position(hand=card), f"play {card} {params}".strip()) == "params-fit-card"


def test_an_exploration_card_stays_on_the_map_and_is_not_discarded() -> None:
    state = position(hand="E1P1", discard="E2P2")
    after = play(state, "play E1P1 3,1 r2")
    assert after.sky.places[NUMBER["E1P1"]] == Laid(NUMBER["E1P1"], 3, 1, 2)
    assert (ids(after.discard), after.hand, after.faction) == ("E2P2", (), 1)


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        ("2,0", "cell-is-free"),
        ("-1,0", "cell-is-free"),
        ("2,2", "cell-touches-card"),
        ("6,0", "cell-touches-card"),
        ("32767,-32768", "cell-touches-card"),
    ],
)
def test_an_exploration_card_is_laid_on_a_free_cell_next_to_a_card(cell: str, rule: str) -> None:
    assert refused(position(hand="E1P1"), f"play E1P1 {cell} r0") == rule


def test_an_exploration_card_may_be_laid_next_to_another_one() -> None:
    assert "0,2 r3" in legal(position(hand="E1P1", on=VORTEX), "play E1P1")


def test_hyperdrive_refuses_a_stop_that_is_one_or_three_away() -> None:
    state = position("S9.se", hand="A1-hyperdrive")
    assert refused(state, "play A1-hyperdrive S7.e") == "hyperdrive-by-two-stations"
    assert refused(state, "play A1-hyperdrive S5.e") == "hyperdrive-by-two-stations"
    assert refused(state, "play A1-hyperdrive E1P3.c") == "hyperdrive-by-two-stations"
    assert names({play(state, "play A1-hyperdrive S7.w").ships[0]}) == {"S7.w"}


def test_solar_winds_fly_against_the_arrow_and_home() -> None:
    state = position("S1.sw", hand="A1-solar_winds A2-black_hole")
    assert set(legal(state, "play A1-solar_winds")) == {"S1.nw", "S1.se", "W"}
    assert refused(state, "play A1-solar_winds S1.ne") == "winds-end-on-next-stop"


def test_pirate_attack_never_ends_on_a_base() -> None:
    state = position("S1.sw", hand_1="A1-pirate_attack", turn=1)
    assert set(legal(state, "play A1-pirate_attack")) == {"0 S1.nw", "0 S1.se"}
    assert refused(state, "play A1-pirate_attack 0 W") == "attack-ends-on-station"


@pytest.mark.parametrize("seat", [0, 2, 3])
def test_pirate_attack_takes_another_seat_of_the_match(seat: int) -> None:
    state = position("S1.sw", "S9.se", hand="A1-pirate_attack")
    assert refused(state, f"play A1-pirate_attack {seat} S9.nw") == "pirates-attack-another"


def test_magnetic_field_turns_exploration_and_solar_cards_of_the_map() -> None:
    state = position(hand="A1-magnetic_field", on=VORTEX)
    assert play(state, "play A1-magnetic_field E1P5 r3").sky == sky(E1P5=(0, 1, 3))
    assert refused(state, "play A1-magnetic_field S2 r1") == "card-on-map"
    assert refused(state, "play A1-magnetic_field E1P6 r1") == "card-on-map"
    assert len(legal(state, "play A1-magnetic_field")) == 6 * 3


def test_solar_tornado_moves_an_exploration_card_and_may_leave_others_without_contact() -> None:
    pair = sky(E1P5=(0, 1, 0), E1P3=(0, 2, 0))
    state = position(hand="A1-solar_tornado", on=pair)
    moved = play(state, "play A1-solar_tornado E1P5 4,1 r2")
    assert moved.sky == sky(E1P5=(4, 1, 2), E1P3=(0, 2, 0))


def test_solar_tornado_is_refused_where_the_rules_say() -> None:
    state = position("E1P3.c", hand="A1-solar_tornado", on=sky(E1P5=(0, 1, 0), E1P3=(4, 1, 0)))
    assert refused(state, "play A1-solar_tornado S1 0,1 r0") == "tornado-takes-exploration"
    assert refused(state, "play A1-solar_tornado E1P3 0,-1 r0") == "card-without-ship"
    assert refused(state, "play A1-solar_tornado E1P5 0,1 r1") == "cell-is-free"
    assert refused(state, "play A1-solar_tornado E1P5 0,2 r1") == "cell-touches-card"
    assert refused(state, "play A1-solar_tornado E3P5 0,-1 r1") == "card-on-map"


def test_black_hole_discards_exploration_cards_by_rising_coordinate_below_the_chain() -> None:
    on = sky(E1P5=(1, 1, 0), E2P2=(1, -1, 0), E3P1=(1, 2, 1), E1P1=(3, 1, 2))
    state = position("S9.nw", hand="A2-black_hole", discard="E4P2", on=on)
    after = play(state, "play A2-black_hole col 1")
    assert ids(after.discard) == "E4P2 E2P2 E1P5 E3P1 A2-black_hole"
    assert ids(after.removed) == "S3"
    assert after.sky == sky("S1 S5 S7 S9", E1P1=(2, 1, 2))


def test_black_hole_takes_a_row_of_exploration_cards_and_moves_what_lies_south() -> None:
    on = sky(E1P5=(1, -1, 0), E2P2=(2, -1, 0), E3P1=(2, -2, 1))
    state = position("S9.nw", hand="A2-black_hole", on=on)
    assert legal(state, "play A2-black_hole") == ["row -2", "row -1", "col 0", "col 1", "col 2", "col 3"]
    after = play(state, "play A2-black_hole row -1")
    assert after.sky.places[NUMBER["E3P1"]].cell == (2, -2)
    assert after.sky.places[NUMBER["S5"]].cell == (2, -1)
    assert after.sky.bases == (None, (5, -1), None, (-1, -1))


def test_ships_travel_with_their_cards_when_a_black_hole_closes_up() -> None:
    state = position("S9.nw", hand="A2-black_hole")
    after = play(state, "play A2-black_hole col 2")
    assert after.ships == state.ships
    assert after.sky.places[NUMBER["S9"]].cell == (3, 0)


def test_cards_that_change_nothing_are_not_playable_on_an_empty_map() -> None:
    bare = StarMap((), (None, (0, 0), None, (-1, 0)))
    hand = "E1P1 A1-magnetic_field A1-solar_tornado A2-black_hole"
    assert legal(position(hand=hand, on=bare), "play") == []


def test_a_card_with_a_ship_on_any_of_its_stations_is_not_chosen() -> None:
    state = position("S5.se", "S1.nw", hand="A1-magnetic_field A1-solar_tornado")
    chosen = {line.split()[0] for line in legal(state, "play A1-magnetic_field")}
    assert chosen == {"S3", "S7", "S9"}
    assert state.cards_with_ship == frozenset(numbers("S1 S5"))
    assert state.ships == (STOP["S5.se"], STOP["S1.nw"])
