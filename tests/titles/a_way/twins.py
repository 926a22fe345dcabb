"""Two positions that one viewer cannot tell apart: hands of others and the draw pile's order are hidden."""

from random import Random

from msgspec.structs import replace

from services.titles.a_way.state import State

HIDES = True

SECRETS = {
    "the hands": lambda state: state.hands,
    "the order of the draw pile": lambda state: state.draw_pile,
}


def known(state: State, viewer: int | None) -> State:
    """`state` with only numbers of cards where `viewer` may not see cards."""
    hands = tuple(hand if seat == viewer else len(hand) for seat, hand in enumerate(state.hands))
    return replace(state, hands=hands, draw_pile=len(state.draw_pile))


def twin(state: State, viewer: int | None, rng: Random) -> State:
    """The cards that `viewer` does not see, dealt anew."""
    unseen = [*state.draw_pile]
    for seat, hand in enumerate(state.hands):
        if seat != viewer:
            unseen += hand
    rng.shuffle(unseen)
    hands = list(state.hands)
    for seat, hand in enumerate(state.hands):
        if seat != viewer:
            hands[seat], unseen = tuple(sorted(unseen[: len(hand)])), unseen[len(hand) :]
    return replace(state, hands=tuple(hands), draw_pile=tuple(unseen))
