"""A position, and its canonical encoding."""

from msgspec import Struct


class State(Struct, frozen=True):
    """`hands`: cards by seat. `deck`: its top in front. `shown`: this round's cards, in order of play."""

    rounds: int
    round: int
    turn: int
    start: int
    hands: tuple[tuple[int, ...], ...]
    deck: tuple[int, ...]
    shown: tuple[int, ...]
    points: tuple[int, ...]
    wind: int


def canonical(state: State) -> bytes:
    """The fields in order, as Python writes nested tuples of numbers; hands sorted."""
    hands = tuple(tuple(sorted(hand)) for hand in state.hands)
    table = (state.shown, state.points, state.wind)
    return repr((state.rounds, state.round, state.turn, state.start, hands, state.deck, *table)).encode()
