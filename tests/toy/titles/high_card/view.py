"""What a seat may know: everything but the others' hands and the deck's order."""

from msgspec import Struct

from .state import State


class View(Struct, frozen=True):
    """`shown`: the cards of this round so far. `hand`: only the viewer's. `wind`: blown each round."""

    round: int
    turn: int
    shown: tuple[int, ...]
    points: tuple[int, ...]
    hand: tuple[int, ...] | None
    hand_sizes: tuple[int, ...]
    deck_size: int
    wind: int


def view(state: State, seat: int | None) -> View:
    return View(
        round=state.round,
        turn=state.turn,
        shown=state.shown,
        points=state.points,
        hand=None if seat is None else state.hands[seat],
        hand_sizes=tuple(len(hand) for hand in state.hands),
        deck_size=len(state.deck),
        wind=state.wind,
    )
