"""Set-up: the map, the bases, the deal, and the order of luck."""

from collections.abc import Sequence
from typing import Any

import pytest

from services.core.errors import OptionInvalid
from services.titles.a_way.components import CARDS, DRAWN, SOLAR
from services.titles.a_way.moves import Options
from services.titles.a_way.state import HOMES
from tests.titles.a_way.positions import TITLE, Dice, NoLuck, way_home


class Unshuffled(NoLuck):
    """Leaves every deck as it is printed."""

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        self.asked.append(f"shuffle {len(items)}")
        return list(items)


def test_luck_is_asked_for_the_solar_cards_then_all_others_then_the_start() -> None:
    dice = Dice(1)
    TITLE.setup(Options(), 3, dice)
    assert dice.asked == ["shuffle 9", "shuffle 48", "below 3"]


def test_a_given_start_takes_no_luck() -> None:
    dice = Dice(1)
    state = TITLE.setup(Options(start=1), 2, dice)
    assert dice.asked == ["shuffle 9", "shuffle 48"]
    assert (state.start, state.turn) == (1, 1)


def test_two_players_have_the_first_five_solar_cards_in_a_row_and_the_rest_leave_the_game() -> None:
    state = TITLE.setup(Options(start=0), 2, Unshuffled(0))
    laid = {place.cell: (CARDS[place.card].id, place.rot) for place in state.sky.cards}
    assert laid == {(x, 0): (f"S{x + 1}", 0) for x in range(5)}
    assert state.sky.bases == (None, (5, 0), None, (-1, 0))
    assert state.removed == ()


@pytest.mark.parametrize("players", [3, 4])
def test_more_players_have_a_cross_whose_upright_cards_are_turned_and_four_bases(players: int) -> None:
    state = TITLE.setup(Options(start=0), players, Unshuffled(0))
    laid = {place.cell: (CARDS[place.card].id, place.rot) for place in state.sky.cards}
    row = {(x, 2): (f"S{x + 1}", 0) for x in range(5)}
    column = {(2, y): (f"S{n}", 1) for n, y in ((6, 0), (7, 1), (8, 3), (9, 4))}
    assert laid == row | column
    assert state.sky.bases == ((2, -1), (5, 2), (2, 5), (-1, 2))


def test_the_first_card_is_discarded_then_each_seat_is_dealt_five_from_the_front() -> None:
    state = TITLE.setup(Options(start=0), 3, Unshuffled(0))
    cards = tuple(DRAWN)
    assert state.discard == cards[:1]
    assert state.hands == (cards[1:6], cards[6:11], cards[11:16])
    assert state.draw_pile == cards[16:]


@pytest.mark.parametrize(("players", "homes"), [(2, "WE"), (3, "NES"), (4, "NESW")])
def test_homes_by_seat(players: int, homes: str) -> None:
    assert "".join("NESW"[home] for home in HOMES[players]) == homes


@pytest.mark.parametrize("seats", [2, 3])
def test_a_start_beyond_the_seats_is_refused(seats: int) -> None:
    with pytest.raises(OptionInvalid) as refusal:
        TITLE.check(Options(start=3), seats)
    assert refusal.value.option == "start"
    TITLE.check(Options(start=3), 4)


def test_both_ways_are_equally_long_with_two_players_and_within_the_measured_bounds() -> None:
    found = []
    for seed in range(300):
        state = TITLE.setup(Options(), 2, Dice(seed))
        first, second = way_home(state, 0), way_home(state, 1)
        assert first == second
        found.append(first or 0)
    assert (min(found), max(found)) == (10, 13)
    assert 11.3 < sum(found) / len(found) < 11.7


def test_opposite_seats_have_equal_ways_with_four_players_within_the_measured_bounds() -> None:
    found, gaps = [], []
    for seed in range(300):
        state = TITLE.setup(Options(), 4, Dice(seed))
        north, east, south, west = (way_home(state, seat) or 0 for seat in range(4))
        assert (north, east) == (south, west)
        found += [north, east]
        gaps.append(abs(north - east))
    assert 8 <= min(found) <= max(found) <= 13
    assert max(gaps) <= 5
    assert 1.5 < sum(gaps) / len(gaps) < 2.1


def test_three_players_have_a_fourth_base_that_is_nobodys() -> None:
    state = TITLE.setup(Options(), 3, Dice(2))
    bases = {base.name: base.home_of for base in TITLE.view(state, None).bases}
    assert bases == {"N": 0, "E": 1, "S": 2, "W": None}
    assert len(SOLAR) == len(state.sky.cards)
