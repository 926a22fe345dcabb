"""From the main action to the next seat's turn: the optional flight, the refill, the end of a round."""

from msgspec.structs import replace

from services.core.chance import Chance
from services.titles.a_way.piles import drawn, with_hand
from services.titles.a_way.ship_cards import own_flights
from services.titles.a_way.state import HAND, LAST_ROUND, Notice, State


def after_main_action(state: State, chance: Chance) -> State:
    """On to the optional flight; past it where the ship is home or has nowhere to go."""
    state = replace(state, phase="optional_move", faction=0)
    if state.turn in state.arrivals:
        return end_turn(state, chance)
    if not own_flights(state):
        notices = (*state.notices, Notice("no_flight", state.turn))
        return end_turn(replace(state, notices=notices), chance)
    return state


def end_turn(state: State, chance: Chance) -> State:
    """Refills the hand, also after the very last turn; then the next seat is to act, or the match is over."""
    missing = HAND - len(state.hand)
    if missing > 0:
        hand = state.hand
        state, cards = drawn(state, missing, chance)
        state = with_hand(state, hand + cards)
    following = (state.turn + 1) % state.players
    if following != state.start:
        return replace(state, turn=following, phase="main", faction=0)
    if state.arrivals or state.round == LAST_ROUND:
        return replace(state, phase="over", faction=0)
    return replace(state, turn=following, phase="main", faction=0, round=state.round + 1)
