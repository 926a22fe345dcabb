"""The worked examples of the rules: two players, Solar row S1 S3 S5 S7 S9 at x = 0 to 4, unless noted."""

import pytest

from services.titles.a_way.components import STOP
from services.titles.a_way.moves import Options
from services.titles.a_way.state import HOMES
from tests.titles.a_way.positions import (
    TITLE,
    Dice,
    flights,
    hyperdrives,
    ids,
    legal,
    names,
    numbers,
    play,
    position,
    refused,
    sky,
    way_home,
)


def test_example_1_each_ship_has_one_first_flight_and_eleven_movements_home() -> None:
    state = position()
    assert flights(state, 0) == {"S9.se"}
    assert flights(state, 1) == {"S1.nw"}
    assert [way_home(state, seat) for seat in (0, 1)] == [11, 11]


def test_example_2_the_straight_way_home_takes_eleven_movements() -> None:
    way = ["S9.se", "S7.e", "S7.w", "S5.e", "S5.se", "S5.w", "S3.e", "S3.w", "S1.se", "S1.sw", "W"]
    at = "E"
    for movements, stop in enumerate(way):
        state = position(at)
        assert way_home(state) == 11 - movements
        assert stop in flights(state)
        at = stop
    assert way_home(position("W")) == 0


def test_example_3_a_ship_is_jumped_over_and_pirates_need_not_heed_arrows() -> None:
    state = position("S3.e", "S3.w", hand_1="A1-pirate_attack", turn=1)
    assert flights(state, 0) == {"S3.n", "S3.s", "S5.w", "S1.se"}
    attacks = legal(state, "play A1-pirate_attack 0")
    assert set(attacks) == {"S3.n", "S3.s", "S5.w", "S1.se", "S1.ne"}


def test_example_4_the_next_station_is_jumped_only_when_it_is_occupied() -> None:
    assert flights(position("S3.w", "S1.se")) == {"S1.sw", "S3.e", "S3.n", "S3.s"}
    assert flights(position("S3.w", "W")) == {"S1.se", "S3.e", "S3.n", "S3.s"}


def test_example_5_hyperdrive_flies_by_two_stations() -> None:
    state = position("S3.w", hand="A1-hyperdrive")
    assert set(legal(state, "play A1-hyperdrive")) == {"S1.sw", "S3.e", "S3.n", "S3.s", "S5.w"}
    assert hyperdrives(state) == {"S1.sw", "S3.e", "S3.n", "S3.s", "S5.w"}


def test_example_6_a_jump_may_end_on_the_home_base() -> None:
    state = position("S1.se", "S1.sw")
    assert flights(state) == {"W", "S1.nw"}
    assert play(state, "fly W").arrivals == (0,)


def test_example_7_hyperdrive_may_reach_home_with_its_first_stop() -> None:
    state = position("S1.sw", hand="A1-hyperdrive")
    assert flights(state) == {"W", "S1.nw"}
    assert hyperdrives(state) == {"W", "S1.ne"}
    assert play(state, "play A1-hyperdrive W").arrivals == (0,)


def test_example_8_no_card_moves_a_ship_that_stands_on_a_base() -> None:
    state = position(hand="A1-hyperdrive A1-solar_winds A1-pirate_attack")
    assert refused(state, "play A1-hyperdrive S9.se") == "own-ship-off-base"
    assert refused(state, "play A1-solar_winds S9.se") == "own-ship-off-base"
    assert refused(state, "play A1-pirate_attack 1 S1.nw") == "attacked-ship-off-base"
    assert legal(state, "play") == []


def test_example_9_turning_a_card_shortens_both_ways() -> None:
    state = position(hand="A1-magnetic_field")
    turned = play(state, "play A1-magnetic_field S5 r1")
    assert [way_home(turned, seat) for seat in (0, 1)] == [9, 9]
    assert refused(state, "play A1-magnetic_field S5 r0") == "rotation-differs"
    on_card = position("S5.w", hand="A1-magnetic_field")
    assert refused(on_card, "play A1-magnetic_field S5 r1") == "card-without-ship"


def test_example_10_black_hole_takes_a_column_and_closes_the_gap() -> None:
    state = position("S9.nw", hand="A2-black_hole")
    assert legal(state, "play A2-black_hole") == ["col 0", "col 1", "col 2", "col 3"]
    assert refused(state, "play A2-black_hole col 4") == "line-without-ship"
    assert refused(state, "play A2-black_hole row 0") == "line-without-base"
    assert refused(state, "play A2-black_hole col 7") == "line-has-card"
    after = play(state, "play A2-black_hole col 1")
    assert ids(after.removed) == "S3"
    assert after.sky == sky("S1 S5 S7 S9")
    assert after.sky.bases == (None, (4, 0), None, (-1, 0))


def test_example_11_a_bypass_leads_through_three_cards_without_stations() -> None:
    bypass = sky(E1P7=(3, 1, 1), E1P1=(2, 1, 1), E2P2=(1, 1, 0))
    assert flights(position("S7.e", on=bypass)) == {"S7.w", "S9.nw", "S3.s"}
    assert way_home(position("S7.e", on=bypass)) == 5
    assert way_home(position("S7.e")) == 9


def test_example_12_a_dead_end_may_be_laid_and_changes_nothing() -> None:
    state = position("S5.se", hand="E1P1")
    after = play(state, "play E1P1 2,1 r1")
    assert flights(after) == flights(state)


def test_example_13_the_vortexes_are_one_movement_apart() -> None:
    vortexes = sky(E1P5=(0, 1, 0), E3P5=(4, 1, 0))
    assert flights(position("E3P5.v", on=vortexes)) == {"E1P5.v", "S9.nw", "S7.e"}
    assert flights(position("E3P5.v", "E1P5.v", on=vortexes)) == {"S1.sw", "S9.nw", "S7.e"}


def test_example_14_a_current_is_flown_only_with_its_arrow() -> None:
    current = sky(E2P4=(1, 1, 0))
    assert flights(position("S3.s", on=current)) == flights(position("S3.s"))
    joined = sky(E2P4=(1, 1, 0), E1P3=(1, 2, 0))
    assert "E1P3.c" in flights(position("S3.s", on=joined))
    assert flights(position("E1P3.c", on=joined)) == set()
    assert flights(position("E1P3.c", on=joined), free=True) == {"S3.s"}


def test_example_15_cards_are_laid_next_to_cards() -> None:
    state = position(hand="E1P1")
    assert len(state.sky.open_cells) == 10
    assert set(state.sky.open_cells) == {(x, y) for x in range(5) for y in (-1, 1)}
    assert len(legal(state, "play E1P1")) == 40
    assert refused(state, "play E1P1 -1,1 r0") == "cell-touches-card"
    four = TITLE.setup(Options(), 4, Dice(1))
    assert len(four.sky.open_cells) == 12


def test_example_16_the_faction_is_that_of_the_card_that_unknown_fate_reveals() -> None:
    state = position(hand="A1-unknown_fate A1-magnetic_field A3-magnetic_field", draw="E3P1", discard="E2P2")
    revealed = play(state, "play A1-unknown_fate")
    assert revealed.phase == "resolve"
    assert {line.split()[0] for line in legal(revealed)} == {"resolve"}
    laid = play(revealed, "resolve 0,1 r0")
    assert laid.faction == 3
    assert legal(laid, "play A1") == []
    assert legal(laid, "play A3-magnetic_field S1") == ["r1", "r2", "r3"]
    assert refused(laid, "play A1-magnetic_field S1 r1") == "one-faction-a-turn"


def test_example_17_scrap_yard_fetches_scrap_yard_and_the_pile_keeps_the_order_of_play() -> None:
    state = position("S3.w", hand="A1-scrap_yard", discard="A1-hyperdrive A2-scrap_yard")
    fetched = play(state, "play A1-scrap_yard")
    assert (fetched.phase, fetched.pending) == ("resolve", *numbers("A1-hyperdrive"))
    after = play(fetched, "resolve S1.sw")
    assert ids(after.discard) == "A1-scrap_yard A2-scrap_yard A1-hyperdrive"
    assert names({after.ships[0]}) == {"S1.sw"}


def test_example_18_the_last_to_arrive_in_the_round_wins() -> None:
    both = position("S1.sw", "S9.nw", round=6)
    first = play(both, "fly W")
    assert TITLE.outcome(first) is None
    assert first.turn == 1
    assert TITLE.outcome(play(first, "fly E")).winners == (1,)


def test_example_18_the_only_arrival_wins_when_the_other_seat_has_had_its_turn() -> None:
    state = position("S1.sw", "S5.e", round=6)
    end = play(state, "fly W", "fly S7.w", "skip")
    assert TITLE.outcome(end).winners == (0,)
    assert (end.round, TITLE.to_act(end)) == (6, frozenset())


def test_example_18_an_arrival_of_the_last_seat_of_the_round_ends_the_match_at_once() -> None:
    end = play(position("S5.e", "S9.nw", round=6, turn=1), "fly E")
    assert TITLE.outcome(end).winners == (1,)
    assert end.phase == "over"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_each_ship_starts_on_the_base_opposite_its_home(players: int) -> None:
    state = TITLE.setup(Options(), players, Dice(3))
    across = {"N": "S", "S": "N", "E": "W", "W": "E"}
    for seat, home in enumerate(HOMES[players]):
        assert state.ships[seat] == STOP[across["NESW"[home]]]
