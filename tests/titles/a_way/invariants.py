"""The invariants of a_way for the long run, and a random player that need not list every move first.

A hand of five can be played in thousands of ways, most of them one card laid somewhere: listing them all
would take most of the time, and choosing among them evenly makes for maps of forty cards.
"""

from collections.abc import Sequence
from itertools import chain
from random import Random

from services.titles.a_way.components import (
    CARD_OF,
    CARDS,
    DRAWN,
    FACTION,
    FIRST_STATION,
    SOLAR,
    STATIONS,
)
from services.titles.a_way.effects import choices
from services.titles.a_way.flight import distance
from services.titles.a_way.moves import STOP_AT, Discard, EndPlay, Move, MoveShip, PlayCard, ResolveCard, Skip
from services.titles.a_way.ship_cards import own_flights
from services.titles.a_way.state import HAND, State
from tests.titles.found import Ply

EVERY = list(DRAWN)
HOME_SEARCHED = 1 / 40  # of the positions


def chosen(state: State, seat: int, rng: Random) -> Move:
    """A random legal move, its kind drawn first: flights 45 %, cards 40 %, anything else 15 %."""
    if state.phase == "resolve":
        assert state.pending is not None
        return ResolveCard(rng.choice(list(choices(state, state.pending))))
    kind = rng.random()
    if state.phase == "playing":
        return (kind < 0.5 and _card(state, rng)) or EndPlay()
    flights = sorted(own_flights(state))
    if flights and kind < 0.45:
        return MoveShip(STOP_AT[rng.choice(flights)])
    if state.phase == "optional_move":
        return Skip()
    return (kind < 0.85 and _card(state, rng)) or _discard(state, rng)


def _card(state: State, rng: Random) -> PlayCard | None:
    """A card of the hand that can be played, with parameters; None if the one picked cannot."""
    card = rng.choice(state.hand) if state.hand else None
    if card is None or (state.faction and FACTION[card] != state.faction):
        return None
    found = list(choices(state, card))
    return PlayCard(CARDS[card].id, rng.choice(found)) if found else None


def _discard(state: State, rng: Random) -> Discard:
    cards = rng.sample(state.hand, rng.randint(1, min(3, len(state.hand))))
    return Discard(tuple(CARDS[card].id for card in cards))


def check(plies: Sequence[Ply], rng: Random) -> None:
    """Fails unless all of a match keeps to the rules."""
    _check_map(plies[0].before)
    for ply in plies:
        _check_cards(ply.after)
        _check_ships(ply.after)
        _check_turn(ply.before, ply.after)
        if ply.before.sky is not ply.after.sky:
            _check_map(ply.after)
            _check_change(ply.before, ply.after)
        if rng.random() < HOME_SEARCHED:
            _check_ways_home(ply.after)


def _check_cards(state: State) -> None:
    """Every card of the match lies in exactly one place; which Solar cards play is the luck of the set-up."""
    pending = () if state.pending is None else (state.pending,)
    piles = chain(state.draw_pile, state.discard, state.resolving, pending, *state.hands)
    cards = sorted(chain(piles, state.sky.places, state.removed))
    solar = 5 if state.players == 2 else len(SOLAR)
    assert cards[solar:] == EVERY
    assert len(set(cards[:solar])) == solar
    assert state.discard or state.resolving


def _check_map(state: State) -> None:
    """No two things in a cell, and all bases there."""
    bases = [cell for cell in state.sky.bases if cell]
    assert len(bases) == (2 if state.players == 2 else 4)
    assert len({*bases, *(laid.cell for laid in state.sky.cards)}) == len(bases) + len(state.sky.cards)


def _check_ships(state: State) -> None:
    """No two ships on a station, and each on a card or base of the map."""
    stations = [stop for stop in state.ships if stop >= FIRST_STATION]
    assert len(set(stations)) == len(stations)
    assert all(CARD_OF[stop] in state.sky.places for stop in stations)
    assert all(state.sky.bases[stop] for stop in state.ships if stop < FIRST_STATION)


def _check_turn(before: State, after: State) -> None:
    """Hands are full when a turn begins; a card is pending exactly while it must be resolved."""
    assert all(len(hand) <= HAND for hand in after.hands)
    if after.turn != before.turn:
        assert all(len(hand) == HAND for hand in after.hands)
        assert after.turn == (before.turn + 1) % after.players
    assert (after.pending is not None) == bool(after.resolving) == (after.phase == "resolve")
    assert after.phase in ("playing", "resolve") or after.faction == 0
    assert after.arrivals[: len(before.arrivals)] == before.arrivals


def _check_change(before: State, after: State) -> None:
    """Of a changed map: one card at most is turned, and black holes keep what is left in order."""
    kept = [
        (before.sky.places[card], after.sky.places[card])
        for card in before.sky.places.keys() & after.sky.places
    ]
    assert sum(was.rot != now.rot for was, now in kept) <= 1
    closed = len(after.sky.cards) < len(before.sky.cards)
    assert closed or sum(was.cell != now.cell for was, now in kept) <= 1
    for was, now in kept:
        if was.card in before.cards_with_ship:
            assert was.rot == now.rot
            assert was.cell == now.cell or closed
    if closed:
        for axis in (0, 1):
            ordered = [now.cell[axis] for was, now in sorted(kept, key=lambda pair: pair[0].cell[axis])]
            assert ordered == sorted(ordered)


def _check_ways_home(state: State) -> None:
    """From every Solar station and every start there is a way home."""
    solar = [stop for card in state.sky.places if card in SOLAR for stop in STATIONS[card]]
    for seat in range(state.players):
        home = state.home(seat)
        assert all(distance(state.sky, stop, home) is not None for stop in (*solar, (home + 2) % 4))
