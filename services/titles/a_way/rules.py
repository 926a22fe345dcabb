"""The game from set-up to outcome: which moves each phase allows, and what they lead to."""

from collections.abc import Iterator
from itertools import permutations
from typing import assert_never

from msgspec.structs import replace

from services.core.chance import Chance
from services.core.errors import MoveIllegal, OptionInvalid
from services.core.title import Outcome
from services.titles.a_way import chain
from services.titles.a_way.components import CARDS, DRAWN, FACTION, NUMBER, SOLAR, opposite
from services.titles.a_way.effects import choices
from services.titles.a_way.flight import distance
from services.titles.a_way.moves import (
    STOP_AT,
    Discard,
    EndPlay,
    Move,
    MoveShip,
    Options,
    PlayCard,
    ResolveCard,
    Skip,
)
from services.titles.a_way.piles import with_hand
from services.titles.a_way.ship_cards import fly, own_flights
from services.titles.a_way.star_map import Cell, Laid, StarMap
from services.titles.a_way.state import HAND, HOMES, Phase, State
from services.titles.a_way.turns import after_main_action, end_turn

DISCARDS_MAX = 3

ALLOWED: dict[Phase, tuple[type[Move], ...]] = {
    "main": (MoveShip, PlayCard, Discard),
    "playing": (PlayCard, EndPlay),
    "resolve": (ResolveCard,),
    "optional_move": (MoveShip, Skip),
    "over": (),
}


def check(options: Options, seats: int) -> None:
    if options.start != "random" and options.start >= seats:
        raise OptionInvalid("start", f"seat {options.start} does not exist with {seats} players")


def setup(options: Options, seats: int, chance: Chance) -> State:
    """Luck in this order: the Solar cards, all other cards, the starting seat if it is random."""
    solar = chance.shuffle(SOLAR)
    cards = chance.shuffle(DRAWN)
    start = chance.below(seats) if options.start == "random" else options.start
    dealt = 1 + HAND * seats
    return State(
        players=seats,
        start=start,
        turn=start,
        sky=first_map(seats, solar),
        ships=tuple(opposite(home) for home in HOMES[seats]),
        hands=tuple(tuple(sorted(cards[at : at + HAND])) for at in range(1, dealt, HAND)),
        draw_pile=tuple(cards[dealt:]),
        discard=(cards[0],),
    )


def first_map(seats: int, solar: list[int]) -> StarMap:
    """`solar`: nine card numbers, as shuffled. Two players fly along one line, more along a cross."""
    if seats == 2:
        line = [Laid(card, x, 0, 0) for x, card in enumerate(solar[:5])]
        return StarMap(tuple(sorted(line)), (None, (5, 0), None, (-1, 0)))
    column: tuple[Cell, ...] = ((2, 0), (2, 1), (2, 3), (2, 4))
    cross = [Laid(card, x, 2, 0) for x, card in enumerate(solar[:5])]
    cross += (Laid(card, *cell, 1) for card, cell in zip(solar[5:], column, strict=True))
    return StarMap(tuple(sorted(cross)), ((2, -1), (5, 2), (2, 5), (-1, 2)))


def to_act(state: State) -> frozenset[int]:
    return frozenset() if state.phase == "over" else frozenset((state.turn,))


def legal_moves(state: State, seat: int) -> Iterator[Move]:
    """Flights, then cards with their parameters, then whatever else the phase allows."""
    if seat not in to_act(state):
        return
    allowed = ALLOWED[state.phase]
    if MoveShip in allowed:
        yield from (MoveShip(STOP_AT[stop]) for stop in sorted(own_flights(state)))
    if PlayCard in allowed:
        for card in state.hand:
            if not state.faction or FACTION[card] == state.faction:
                yield from (PlayCard(CARDS[card].id, params) for params in choices(state, card))
    if ResolveCard in allowed and state.pending is not None:
        yield from (ResolveCard(params) for params in choices(state, state.pending))
    if Discard in allowed:
        names = [CARDS[card].id for card in state.hand]
        for count in range(1, DISCARDS_MAX + 1):
            yield from (Discard(cards) for cards in permutations(names, count))
    if EndPlay in allowed:
        yield EndPlay()
    if Skip in allowed:
        yield Skip()


def apply(state: State, move: Move, chance: Chance) -> State:
    """The position after a move of the seat whose turn it is. Raises MoveIllegal."""
    if not isinstance(move, ALLOWED[state.phase]):
        wanted = " or ".join(f"{kind.__struct_config__.tag}" for kind in ALLOWED[state.phase]) or "nothing"
        raise MoveIllegal("phase-allows-move", f"in phase {state.phase} you can {wanted}")
    state = replace(state, notices=())
    match move:
        case MoveShip(dest):
            flown = fly(state, dest)
            return (
                end_turn(flown, chance)
                if state.phase == "optional_move"
                else after_main_action(flown, chance)
            )
        case PlayCard(card, params):
            return chain.play(state, card, params, chance)
        case ResolveCard(params):
            return chain.resolve(state, params, chance)
        case Discard(cards):
            return after_main_action(_discarded(state, cards), chance)
        case EndPlay():
            return after_main_action(state, chance)
        case Skip():
            return end_turn(state, chance)
        case _:
            assert_never(move)


def _discarded(state: State, card_ids: tuple[str, ...]) -> State:
    if len(set(card_ids)) != len(card_ids):
        raise MoveIllegal("discards-differ", f"{', '.join(card_ids)} names a card twice")
    cards = tuple(NUMBER.get(card_id, -1) for card_id in card_ids)
    for card, card_id in zip(cards, card_ids, strict=True):
        if card not in state.hand:
            raise MoveIllegal("card-in-hand", f"{card_id} is not in your hand")
    kept = tuple(card for card in state.hand if card not in cards)
    return replace(with_hand(state, kept), discard=state.discard + cards)


def outcome(state: State) -> Outcome | None:
    """Of several arrivals in the last round the latest wins."""
    if state.phase != "over":
        return None
    return Outcome(leaders(state), "arrival" if state.arrivals else "nearest_home")


def leaders(state: State) -> tuple[int, ...]:
    """Who would win if the match were over: the last arrival, or without one who is nearest to home."""
    if state.arrivals:
        return state.arrivals[-1:]
    ways = [distance(state.sky, state.ships[seat], state.home(seat)) for seat in range(state.players)]
    known = [way for way in ways if way is not None]
    nearest = min(known) if known else None
    return tuple(seat for seat, way in enumerate(ways) if way == nearest)
