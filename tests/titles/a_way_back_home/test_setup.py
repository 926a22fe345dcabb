"""Setting up: bags, pool, who begins, which character, and the order in which luck is asked."""

import pytest

from services.core.errors import OptionInvalid
from services.core.ruleset import Ruleset
from services.titles.a_way_back_home.moves import Options
from services.titles.a_way_back_home.state import IN_POOL, Tile
from tests.titles.a_way_back_home.positions import TITLE, Dice, counts

SEATS = [2, 3, 4]


@pytest.mark.parametrize("seats", SEATS)
def test_bags_hold_29_with_both_wilds_and_the_pool_three_of_each_player_without(seats: int) -> None:
    state = TITLE.setup(Options(), seats, Dice(1))
    assert [sum(bag) for bag in state.bags] == [29] * seats
    assert [bag[6] for bag in state.bags] == [2] * seats
    assert (sum(state.pool), state.pool[6]) == (3 * seats, 0)
    everything = [sum(colour) for colour in zip(state.pool, *state.bags, strict=True)]
    assert everything == [5 * seats] * 6 + [2 * seats]


def test_luck_is_asked_seat_by_seat_then_for_the_start_then_for_the_character() -> None:
    luck = Dice(1)
    TITLE.setup(Options(side="B"), 3, luck)
    assert luck.asked == ["draw 3 of 30"] * 3 + ["below 3", "below 6"]


def test_what_is_chosen_is_not_drawn() -> None:
    luck = Dice(1)
    state = TITLE.setup(Options(side="B", character=4, start=1), 2, luck)
    assert luck.asked == ["draw 3 of 30"] * 2
    assert (state.turn, state.tile) == (1, Tile(4, IN_POOL))


def test_side_a_draws_no_character() -> None:
    luck = Dice(1)
    assert TITLE.setup(Options(), 2, luck).tile is None
    assert luck.asked == ["draw 3 of 30"] * 2 + ["below 2"]


def test_a_draw_asks_once_for_three_of_the_bag_in_colour_order() -> None:
    luck = Dice(1)
    state = TITLE.setup(Options(start=0), 2, luck)
    state = TITLE.apply(state, 0, TITLE.parse("draw"), luck)
    assert luck.asked[-1] == "draw 3 of 29"
    assert sum(state.bags[0]) == 26
    assert list(state.drawn) == sorted(state.drawn)


@pytest.mark.parametrize("start", range(4))
def test_play_goes_clockwise_from_the_chosen_start(start: int) -> None:
    luck = Dice(1)
    state = TITLE.setup(Options(start=start), 4, luck)
    order = []
    for _ in range(5):
        order.append(state.turn)
        take = next(
            iter(move for move in TITLE.legal_moves(state, state.turn) if move != TITLE.parse("draw"))
        )
        state = TITLE.apply(state, state.turn, take, luck)
    assert order == [(start + n) % 4 for n in range(5)]


@pytest.mark.parametrize(
    ("options", "seats", "named"),
    [
        (b'{"character":3}', 2, "character"),
        (b'{"side":"A","character":0}', 2, "character"),
        (b'{"start":2}', 2, "start"),
        (b'{"start":4}', 4, "start"),
        (b'{"start":-1}', 4, "start"),
        (b'{"side":"C"}', 2, "side"),
        (b'{"side":"B","character":6}', 2, "character"),
        (b"{}", 1, "seats"),
        (b"{}", 5, "seats"),
    ],
)
def test_options_that_the_title_does_not_offer_are_refused_by_name(
    options: bytes, seats: int, named: str
) -> None:
    with pytest.raises(OptionInvalid) as refusal:
        Ruleset(TITLE).read_options(options, seats)
    assert refusal.value.option == named


@pytest.mark.parametrize("character", [b'"random"', b"0", b"5"])
@pytest.mark.parametrize("start", [b'"random"', b"0", b"3"])
def test_options_are_read_as_the_rules_write_them(character: bytes, start: bytes) -> None:
    raw = b'{"side":"B","character":%s,"start":%s}' % (character, start)
    rules = Ruleset(TITLE)
    assert bytes(rules.write(rules.read_options(raw, 4))) == raw


def test_counts_of_these_tests_follow_the_colours() -> None:
    assert counts(green=1, blue=2, wild=3) == (1, 0, 0, 0, 0, 2, 3)
