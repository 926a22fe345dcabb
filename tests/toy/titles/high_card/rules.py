"""The rules: in each round, seat by seat plays a card of a hand of two and draws the next."""

from msgspec.structs import replace

from services.core.chance import Chance
from services.core.errors import MoveIllegal
from services.core.title import Outcome

from .moves import Options, Play
from .state import State

DECK = tuple(range(1, 41))
RULES = {"card-in-hand": "A card is played from the hand."}


def setup(options: Options, seats: int, chance: Chance) -> State:
    cards = chance.shuffle(DECK)
    hands = tuple(tuple(cards[2 * seat : 2 * seat + 2]) for seat in range(seats))
    deck, points, wind = tuple(cards[2 * seats :]), (0,) * seats, chance.below(100)
    return State(options.rounds, 1, options.start, options.start, hands, deck, (), points, wind)


def to_act(state: State) -> frozenset[int]:
    return frozenset() if state.round > state.rounds else frozenset((state.turn,))


def legal_moves(state: State, seat: int) -> list[Play]:
    return [Play(card) for card in sorted(state.hands[seat])] if seat in to_act(state) else []


def apply(state: State, seat: int, move: Play, chance: Chance) -> State:
    if move.card not in state.hands[seat]:
        raise MoveIllegal("card-in-hand", f"card {move.card} is not in your hand")
    kept = (*(card for card in state.hands[seat] if card != move.card), *state.deck[:1])
    hands = (*state.hands[:seat], tuple(sorted(kept)), *state.hands[seat + 1 :])
    shown = (*state.shown, move.card)
    turn = (seat + 1) % len(hands)
    played = replace(state, hands=hands, deck=state.deck[1:], shown=shown, turn=turn)
    return played if len(shown) < len(hands) else _round_over(played, chance)


def _round_over(state: State, chance: Chance) -> State:
    best = (state.start + state.shown.index(max(state.shown))) % len(state.hands)
    points = tuple(score + (seat == best) for seat, score in enumerate(state.points))
    return replace(state, shown=(), points=points, round=state.round + 1, wind=chance.below(100))


def outcome(state: State) -> Outcome | None:
    if state.round <= state.rounds:
        return None
    best = max(state.points)
    winners = tuple(seat for seat, score in enumerate(state.points) if score == best)
    return Outcome(winners, "most_points", state.points)
