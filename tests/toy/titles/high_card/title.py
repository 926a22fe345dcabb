"""The toy's rules: in each round, seat by seat plays a card of a hand of two and draws the next."""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from services.core.chance import Chance
from services.core.errors import MoveIllegal, MoveUnreadable, OptionInvalid
from services.core.title import Outcome

DECK = tuple(range(1, 41))


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """`rounds`: how many are played, 1 to 8."""

    rounds: Annotated[int, Meta(ge=1, le=8)] = 3
    start: Literal[0, 1] = 0


class Play(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="play"):
    """Play a card of your hand."""

    card: int


class State(Struct, frozen=True):
    rounds: int
    round: int
    turn: int
    start: int
    hands: tuple[tuple[int, ...], ...]
    deck: tuple[int, ...]
    shown: tuple[int, ...]
    points: tuple[int, ...]
    wind: int


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


class HighCard:
    slug = "high_card"
    name = "High Card"
    rules_version = 1
    seats = range(2, 5)
    takebacks = False
    rules = {"card-in-hand": "A card is played from the hand."}  # noqa: RUF012
    Options = Options
    Move = Play
    View = View

    def check(self, options: Options, seats: int) -> None:
        if options.rounds == 8 and seats == 4:
            raise OptionInvalid("rounds", "8 rounds are too long for four")

    def setup(self, options: Options, seats: int, chance: Chance) -> State:
        cards = chance.shuffle(DECK)
        hands = tuple(tuple(cards[2 * seat : 2 * seat + 2]) for seat in range(seats))
        deck = tuple(cards[2 * seats :])
        return State(
            options.rounds, 1, options.start, options.start, hands, deck, (), (0,) * seats, chance.below(100)
        )

    def to_act(self, state: State) -> frozenset[int]:
        return frozenset() if state.round > state.rounds else frozenset((state.turn,))

    def legal_moves(self, state: State, seat: int) -> list[Play]:
        return [Play(card) for card in sorted(state.hands[seat])] if seat in self.to_act(state) else []

    def apply(self, state: State, seat: int, move: Play, chance: Chance) -> State:
        hand = state.hands[seat]
        if move.card not in hand:
            raise MoveIllegal("card-in-hand", f"card {move.card} is not in your hand")
        drawn, deck = state.deck[:1], state.deck[1:]
        kept = tuple(sorted((*(card for card in hand if card != move.card), *drawn)))
        hands = (*state.hands[:seat], kept, *state.hands[seat + 1 :])
        shown = (*state.shown, move.card)
        seats = len(state.hands)
        turn = (seat + 1) % seats
        if len(shown) < seats:
            return replace(state, hands=hands, deck=deck, shown=shown, turn=turn)
        best = (state.start + shown.index(max(shown))) % seats
        points = tuple(score + (n == best) for n, score in enumerate(state.points))
        wind = chance.below(100)
        return replace(
            state,
            hands=hands,
            deck=deck,
            shown=(),
            turn=turn,
            points=points,
            round=state.round + 1,
            wind=wind,
        )

    def outcome(self, state: State) -> Outcome | None:
        if state.round <= state.rounds:
            return None
        best = max(state.points)
        winners = tuple(seat for seat, score in enumerate(state.points) if score == best)
        return Outcome(winners, "most_points", state.points)

    def view(self, state: State, seat: int | None) -> View:
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

    def redact(self, move: Play, by: int, viewer: int | None) -> Play | None:
        return move

    def canonical(self, state: State) -> bytes:
        return repr(
            (
                state.rounds,
                state.round,
                state.turn,
                state.start,
                tuple(tuple(sorted(hand)) for hand in state.hands),
                state.deck,
                state.shown,
                state.points,
                state.wind,
            )
        ).encode()

    def notation(self, move: Play) -> str:
        return f"p{move.card}"

    def parse(self, text: str) -> Play:
        if not re.fullmatch(r"p-?[0-9]{1,9}", text, re.ASCII):
            raise MoveUnreadable(f"{text[:20]!r} is not like p17")
        return Play(int(text[1:]))

    def render(self, view: View) -> str:
        heading = f"round {view.round}, seat {view.turn} to play"
        return f"{heading}\ntable {view.shown}\nhand {view.hand}\npoints {view.points}"
