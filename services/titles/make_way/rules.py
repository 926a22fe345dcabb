"""The course of a game: set-up, whose turn it is, what may be done, what it does, and how it ends.

The order of luck: the lanes if they are shuffled, the deck, the starting seat if it is random; in
the game of four rounds the whole deck once more before round 3.
"""

from msgspec.structs import replace

from services.core.chance import Chance
from services.core.errors import MoveIllegal
from services.core.title import Outcome
from services.titles.make_way.components import CARD_OF, DECK, DISCARDS, HAND, ROUND, SYMBOLS
from services.titles.make_way.moves import Discard, Enter, Move, Options, Symbol
from services.titles.make_way.plays import can_play, plays
from services.titles.make_way.scoring import totals
from services.titles.make_way.state import FIXED_LANES, NO_CARDS, Counts, State, Symbols, counted
from services.titles.make_way.steps import stepped

RULES = {
    "card-in-hand": "A turn spends a card that you hold.",
    "tile-on-board": "A tile is a lane from 0 to 5 and a rank from 1 to 6.",
    "move-own-piece": "Only your own pieces advance or shift.",
    "end-in-lane-of-card": "The moved piece must end in the lane whose symbol is on the card.",
    "advance-on-board": "A piece on its last row cannot advance.",
    "shift-one-lane": "A shift goes one lane sideways: dir is -1 or 1.",
    "own-piece-not-pushed-ahead": "An own piece in the way is never pushed forward.",
    "push-on-board": "A piece on its own start row cannot be pushed back: no tile lies beyond.",
    "push-onto-free-tile": "A pushed piece needs a free tile beyond: pushes do not chain.",
    "enter-from-supply": "An entering piece comes from your supply.",
    "enter-at-start-or-behind": "A piece enters on your start row or right behind a piece of yours.",
    "discard-only-when-stuck": "A card is discarded only when no card in your hand can be played.",
}

_ONLY = (frozenset((0,)), frozenset((1,)))
_NOBODY = frozenset[int]()

# The round of the longer game before which all 54 cards are shuffled again.
_RESHUFFLED = 3


def setup(options: Options, chance: Chance) -> State:
    """An empty board, nine pieces and nine cards each."""
    lanes = FIXED_LANES if options.lane_order == "fixed" else tuple(chance.shuffle(FIXED_LANES))
    hands, deck = _dealt(tuple(chance.shuffle(DECK)))
    start = chance.below(2) if options.start == "random" else options.start
    return State(hands=hands, deck=deck, start=start, rounds=options.rounds, lanes=lanes)


def to_act(state: State) -> frozenset[int]:
    return _NOBODY if state.is_over else _ONLY[state.turn]


def legal_moves(state: State, seat: int) -> list[Move]:
    """All plays (see `plays` for their order), or else a discard of each symbol in hand."""
    if seat not in to_act(state):
        return []
    return plays(state, seat) or [DISCARDS[card] for card, n in enumerate(state.hands[seat]) if n]


def apply(state: State, seat: int, move: Move, chance: Chance) -> State:
    """The position after the turn, the next round's hands included. Raises MoveIllegal."""
    card = _card_in_hand(state.hands[seat], move.card)
    boards, supply = state.boards, state.supply
    if isinstance(move, Discard):
        _check_stuck(state, seat)
    else:
        boards = stepped(state, seat, card, move.move)
        if isinstance(move.move, Enter):
            supply = (supply[0] - 1, supply[1]) if seat == 0 else (supply[0], supply[1] - 1)
    hands = _replaced(state.hands, seat, _changed(state.hands[seat], card, -1))
    spent = _replaced(state.spent, seat, _changed(state.spent[seat], card, 1))
    ply = state.ply + 1
    after = State(boards, supply, hands, spent, state.deck, ply, state.start, state.rounds, state.lanes)
    return after if ply % ROUND or after.is_over else _next_round(after, chance)


def outcome(state: State) -> Outcome | None:
    """The higher total wins; equal totals are a draw."""
    if not state.is_over:
        return None
    red, blue = scores = totals(state.boards)
    if red == blue:
        return Outcome((0, 1), "equal_totals", scores)
    return Outcome((0 if red > blue else 1,), "higher_total", scores)


def is_stuck(state: State, seat: int) -> bool:
    """Whether `seat` is to move and can only discard."""
    return seat in to_act(state) and not can_play(state, seat)


def _next_round(state: State, chance: Chance) -> State:
    deck, spent = state.deck, state.spent
    if state.rounds == 4 and state.round == _RESHUFFLED:
        deck, spent = tuple(chance.shuffle(DECK)), (NO_CARDS, NO_CARDS)
    hands, deck = _dealt(deck)
    return replace(state, hands=hands, spent=spent, deck=deck)


def _dealt(deck: Symbols) -> tuple[tuple[Counts, Counts], Symbols]:
    """Both hands, dealt from the top, seat 0 first; and the rest of the deck."""
    return (counted(deck[:HAND]), counted(deck[HAND:ROUND])), deck[ROUND:]


def _card_in_hand(hand: Counts, symbol: Symbol) -> int:
    card = CARD_OF.get(symbol)
    if card is None:
        raise MoveIllegal("card-in-hand", f"no card has that symbol: the symbols are {', '.join(SYMBOLS)}")
    if not hand[card]:
        raise MoveIllegal("card-in-hand", f"there is no {symbol} in your hand")
    return card


def _check_stuck(state: State, seat: int) -> None:
    if possible := plays(state, seat):
        raise MoveIllegal("discard-only-when-stuck", f"{possible[0].card} in your hand can be played")


def _changed(counts: Counts, card: int, by: int) -> Counts:
    return (*counts[:card], counts[card] + by, *counts[card + 1 :])


def _replaced(pair: tuple[Counts, Counts], seat: int, counts: Counts) -> tuple[Counts, Counts]:
    return (counts, pair[1]) if seat == 0 else (pair[0], counts)
