"""Two positions that one viewer cannot tell apart: hands of others and the deck's order are hidden."""

from random import Random

from msgspec.structs import replace

from services.titles.make_way.state import State, counted

HIDES = True

SECRETS = {
    "the hands": lambda state: state.hands,
    "the order of the deck": lambda state: state.deck,
}


def known(state: State, viewer: int | None) -> State:
    """`state` with only numbers of cards where `viewer` may not see cards."""
    hands = tuple(hand if seat == viewer else sum(hand) for seat, hand in enumerate(state.hands))
    return replace(state, hands=hands, deck=len(state.deck))


def twin(state: State, viewer: int | None, rng: Random) -> State:
    """The cards that `viewer` does not see, dealt anew."""
    others = [seat for seat in (0, 1) if seat != viewer]
    unseen = [*state.deck]
    for seat in others:
        unseen += [card for card, count in enumerate(state.hands[seat]) for _ in range(count)]
    rng.shuffle(unseen)
    hands = list(state.hands)
    for seat in others:
        size = sum(hands[seat])
        hands[seat], unseen = counted(unseen[:size]), unseen[size:]
    return replace(state, hands=tuple(hands), deck=tuple(unseen))
