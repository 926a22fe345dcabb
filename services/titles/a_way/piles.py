"""The draw pile and the discard pile."""

from msgspec.structs import replace

from services.core.chance import Chance
from services.titles.a_way.state import Notice, State


def drawn(state: State, count: int, chance: Chance) -> tuple[State, tuple[int, ...]]:
    """Up to `count` cards off the draw pile; fewer only where both piles are used up.

    When cards are missing, the discard pile but for its top card is shuffled into a new draw pile.
    """
    taken, pile = state.draw_pile[:count], state.draw_pile[count:]
    missing = count - len(taken)
    if not missing or len(state.discard) < 2:
        return replace(state, draw_pile=pile), taken
    renewed = tuple(chance.shuffle(state.discard[:-1]))
    left = replace(
        state,
        draw_pile=renewed[missing:],
        discard=state.discard[-1:],
        notices=(*state.notices, Notice("pile_renewed", state.turn)),
    )
    return left, taken + renewed[:missing]


def with_hand(state: State, hand: tuple[int, ...]) -> State:
    """The hand of the seat whose turn it is, replaced."""
    seat = state.turn
    return replace(state, hands=(*state.hands[:seat], tuple(sorted(hand)), *state.hands[seat + 1 :]))
