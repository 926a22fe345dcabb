"""Hands are their owners' secret, the order of the draw pile is everybody's."""

from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from services.core.errors import MoveIllegal
from services.titles.a_way.components import CARDS
from services.titles.a_way.state import State
from tests.titles.a_way.positions import TITLE, Dice, playout

AUDIENCES = [None, 0, 1, 2]


def states() -> list[State]:
    return [after for _, _, after in playout(3, seed=8)][::3]


def redealt(state: State, seats: set[int], random: Random) -> State:
    """The same position to those who do not know these hands or the draw pile: their cards are mixed."""
    unknown = [*state.draw_pile, *(card for seat in sorted(seats) for card in state.hands[seat])]
    random.shuffle(unknown)
    hands = list(state.hands)
    for seat in seats:
        size = len(hands[seat])
        hands[seat] = tuple(sorted(unknown[:size]))
        del unknown[:size]
    return replace(state, hands=tuple(hands), draw_pile=tuple(unknown))


@pytest.mark.parametrize("audience", AUDIENCES)
def test_no_view_depends_on_the_hands_of_others_or_the_draw_pile(audience: int | None) -> None:
    random = Random(1)
    for state in states():
        other = redealt(state, {0, 1, 2} - {audience}, random)
        assert TITLE.view(other, audience) == TITLE.view(state, audience)
        assert TITLE.render(TITLE.view(other, audience)) == TITLE.render(TITLE.view(state, audience))


def test_a_seat_sees_its_own_hand_and_a_spectator_none() -> None:
    for state in states():
        assert TITLE.view(state, None).hand is None
        for seat in range(3):
            shown = [card.id for card in TITLE.view(state, seat).hand]
            assert shown == [CARDS[card].id for card in state.hands[seat]]


def test_a_spectator_knows_what_every_seat_knows_less_its_own_hand() -> None:
    for state in states():
        public = msgspec.to_builtins(TITLE.view(state, None))
        for seat in range(3):
            assert msgspec.to_builtins(TITLE.view(state, seat)) | {"hand": None} == public


def test_legal_moves_do_not_depend_on_the_hands_of_others_or_the_draw_pile() -> None:
    random = Random(2)
    for state in states()[::4]:
        other = redealt(state, {0, 1, 2} - {state.turn}, random)
        assert list(TITLE.legal_moves(other, state.turn)) == list(TITLE.legal_moves(state, state.turn))


def test_a_refusal_does_not_tell_hidden_cards() -> None:
    random = Random(3)
    for state in states()[::3]:
        if not TITLE.to_act(state):
            continue
        other = redealt(state, {0, 1, 2} - {state.turn}, random)
        for line in ("fly S1.ne", "play E1P1 0,0 r0", "discard E1P1", "skip", "play A1-scrap_yard"):
            assert refusal(state, line) == refusal(other, line)


def refusal(state: State, line: str) -> str:
    try:
        TITLE.apply(state, state.turn, TITLE.parse(line), Dice(1))
    except MoveIllegal as error:
        return str(error)
    return ""


def test_moves_are_made_in_the_open() -> None:
    for before, move, _ in playout(3, seed=8):
        for audience in AUDIENCES:
            assert TITLE.redact(move, before.turn, audience) == move
