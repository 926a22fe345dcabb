"""Bags stay secret: their contents from everybody, their size from all but the owner."""

from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace

from services.titles.a_way_back_home.state import Counts, State
from tests.titles.a_way_back_home.positions import CHARACTERS, SIDE_A, TITLE, playout

AUDIENCES = [None, 0, 1, 2]


def states() -> Iterator[State]:
    for options in (SIDE_A, CHARACTERS[1]):
        for _, _, after in playout(options, 3, seed=8):
            yield after


def with_bag(state: State, seat: int, bag: Counts) -> State:
    return replace(state, bags=(*state.bags[:seat], bag, *state.bags[seat + 1 :]))


@pytest.mark.parametrize("audience", AUDIENCES)
def test_no_view_depends_on_what_is_in_a_bag(audience: int | None) -> None:
    for state in states():
        for seat, bag in enumerate(state.bags):
            other = with_bag(state, seat, (sum(bag), *(0,) * 6))
            assert TITLE.view(other, audience) == TITLE.view(state, audience)


@pytest.mark.parametrize("audience", AUDIENCES)
def test_no_view_depends_on_how_many_are_in_the_bag_of_another_seat(audience: int | None) -> None:
    for state in states():
        for seat in range(state.players):
            if seat != audience:
                other = with_bag(state, seat, (17, *(0,) * 6))
                assert TITLE.view(other, audience) == TITLE.view(state, audience)


@pytest.mark.parametrize("audience", AUDIENCES)
def test_only_the_owner_sees_the_size_of_a_bag_during_the_match_and_after_it(audience: int | None) -> None:
    for state in states():
        shown = [player.bag_count for player in TITLE.view(state, audience).players]
        assert shown == [sum(bag) if seat == audience else None for seat, bag in enumerate(state.bags)]


def test_a_spectator_knows_what_every_seat_knows_less_its_own_bag() -> None:
    for state in states():
        public = msgspec.to_builtins(TITLE.view(state, None))
        for seat in range(state.players):
            shown = msgspec.to_builtins(TITLE.view(state, seat))
            shown["players"][seat]["bag_count"] = None
            assert shown == public


def test_legal_moves_do_not_depend_on_what_is_in_a_bag() -> None:
    for state in states():
        for seat, bag in enumerate(state.bags):
            other = with_bag(state, seat, (sum(bag), *(0,) * 6))
            assert list(TITLE.legal_moves(other, state.turn)) == list(TITLE.legal_moves(state, state.turn))


def test_moves_are_made_in_the_open() -> None:
    for before, move, _ in playout(SIDE_A, 3, seed=8):
        for audience in AUDIENCES:
            assert TITLE.redact(move, before.turn, audience) == move


def test_nothing_of_a_bag_is_rendered_but_its_size_for_its_owner() -> None:
    for state in states():
        assert "in the bag" not in TITLE.render(TITLE.view(state, None))
        assert TITLE.render(TITLE.view(state, 1)).count("in the bag") == 1
