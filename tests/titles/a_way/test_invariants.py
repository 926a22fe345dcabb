"""The invariants of the rules, at every position of random matches."""

from functools import cache

import pytest

from services.titles.a_way.components import CARD_OF, DRAWN, EXPLORATION, FIRST_STATION, SOLAR, STATIONS
from services.titles.a_way.flight import distance
from services.titles.a_way.moves import Move
from services.titles.a_way.state import HAND, State
from tests.titles.a_way.positions import TITLE, playout

SEEDS = range(4)

each_number_of_seats = pytest.mark.parametrize("seats", [2, 3, 4])


@cache
def plies(seats: int) -> list[tuple[State, Move, State]]:
    return [ply for seed in SEEDS for ply in playout(seats, seed)]


def positions(seats: int) -> list[State]:
    return [after for _, _, after in plies(seats)]


@each_number_of_seats
def test_every_exploration_and_action_card_is_in_exactly_one_place(seats: int) -> None:
    for state in positions(seats):
        pending = () if state.pending is None else (state.pending,)
        on_map = [card for card in state.sky.places if card in EXPLORATION]
        places = (state.draw_pile, state.discard, *state.hands, state.resolving, pending, on_map)
        assert sorted(card for place in places for card in place) == list(DRAWN)


@each_number_of_seats
def test_every_solar_card_of_the_match_is_on_the_map_or_out_of_the_game(seats: int) -> None:
    for state in positions(seats):
        solar = [card for card in state.sky.places if card in SOLAR]
        both = {*solar, *state.removed}
        assert len(both) == len(solar) + len(state.removed) == (5 if seats == 2 else 9)


@each_number_of_seats
def test_the_discard_pile_is_never_empty_when_no_chain_runs(seats: int) -> None:
    assert all(state.discard for state in positions(seats) if state.phase != "resolve")


@each_number_of_seats
def test_no_two_ships_share_a_station_and_every_ship_stands_on_the_map(seats: int) -> None:
    for state in positions(seats):
        stations = [stop for stop in state.ships if stop >= FIRST_STATION]
        assert len(set(stations)) == len(stations)
        for stop in stations:
            assert stop in STATIONS[CARD_OF[stop]]
            assert CARD_OF[stop] in state.sky.places
        assert all(state.sky.bases[stop] for stop in state.ships if stop < FIRST_STATION)


@each_number_of_seats
def test_no_two_cards_or_bases_share_a_cell_and_bases_stay_for_ever(seats: int) -> None:
    for state in positions(seats):
        bases = [cell for cell in state.sky.bases if cell]
        assert len(bases) == (2 if seats == 2 else 4)
        cells = [*bases, *(laid.cell for laid in state.sky.cards)]
        assert len(set(cells)) == len(cells)
        assert len(state.sky.cells) == len(cells)


@each_number_of_seats
def test_hands_hold_five_cards_when_a_turn_begins_and_never_more(seats: int) -> None:
    for before, _, after in plies(seats):
        assert all(len(hand) <= HAND for hand in after.hands)
        if after.turn != before.turn:
            assert all(len(hand) == HAND for hand in after.hands)


@each_number_of_seats
def test_a_card_with_a_ship_is_never_turned_removed_or_moved_but_by_closing_up(seats: int) -> None:
    for before, _, after in plies(seats):
        for card in before.cards_with_ship - {-1}:
            was, now = before.sky.places[card], after.sky.places[card]
            shift = (was.x - now.x, was.y - now.y)
            closed = len(after.sky.cards) < len(before.sky.cards)
            assert was.rot == now.rot
            assert shift == (0, 0) or (closed and shift in ((1, 0), (0, 1)))


@each_number_of_seats
def test_black_holes_keep_the_order_of_what_is_left_along_every_line(seats: int) -> None:
    seen = 0
    for before, _, after in plies(seats):
        if len(after.sky.cards) < len(before.sky.cards):
            seen += 1
            for was, now in zip(before.sky.bases, after.sky.bases, strict=True):
                assert (was is None) == (now is None)
            left = [card for card in before.sky.places if card in after.sky.places]
            for axis in (0, 1):
                ordered = sorted(left, key=lambda card: before.sky.places[card].cell[axis])
                coordinates = [after.sky.places[card].cell[axis] for card in ordered]
                assert coordinates == sorted(coordinates)
    assert seen > 5


@each_number_of_seats
def test_home_is_in_reach_of_every_solar_station_and_every_base(seats: int) -> None:
    for state in positions(seats)[::5]:
        solar = [stop for card in state.sky.places if card in SOLAR for stop in STATIONS[card]]
        for seat in range(seats):
            for stop in (*solar, (state.home(seat) + 2) % 4):
                assert distance(state.sky, stop, state.home(seat)) is not None


@each_number_of_seats
def test_a_player_who_is_to_act_always_has_a_legal_move(seats: int) -> None:
    for state in positions(seats):
        assert (state.phase == "over") == (not TITLE.to_act(state))
        if state.phase != "over":
            assert next(iter(TITLE.legal_moves(state, state.turn)), None) is not None


@each_number_of_seats
def test_a_pending_card_waits_exactly_while_it_must_be_resolved(seats: int) -> None:
    for state in positions(seats):
        assert (state.pending is not None) == bool(state.resolving) == (state.phase == "resolve")
        assert state.pending is None or state.pending not in state.resolving
        assert state.phase in ("playing", "resolve") or state.faction == 0


@each_number_of_seats
def test_every_card_on_the_map_keeps_its_rotation_unless_the_move_names_it(seats: int) -> None:
    for before, move, after in plies(seats):
        changed = {
            card
            for card, laid in before.sky.places.items()
            if card in after.sky.places and after.sky.places[card].rot != laid.rot
        }
        assert len(changed) <= 1
        if changed:
            assert TITLE.notation(move).split()[-1].startswith("r")


@each_number_of_seats
def test_moves_change_no_position_that_was_there_before(seats: int) -> None:
    seen = [(before, TITLE.canonical(before), before.notices) for before, _, _ in playout(seats, seed=9)]
    for state, encoded, notices in seen:
        assert (TITLE.canonical(state), state.notices) == (encoded, notices)
