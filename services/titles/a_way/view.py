"""What each seat may know, built from an allow-list: all that lies open, and of the hands only one's own."""

from typing import Literal

from msgspec import Struct

from services.titles.a_way.components import (
    CARD_OF,
    CARDS,
    KIND,
    SIDES,
    Arrow,
    Faction,
    Side,
    Slot,
)
from services.titles.a_way.flight import distance
from services.titles.a_way.moves import STOP_AT, Move, Stop
from services.titles.a_way.rules import leaders
from services.titles.a_way.star_map import Cell, Laid
from services.titles.a_way.state import HOMES, LAST_ROUND, Notice, Phase, State


class Face(Struct, frozen=True):
    """What is printed on a card, as it lies unturned.

    `faction`: null for Solar cards. `stations`: their slots. `tracks`: from side to side through stations,
    like "N n e E"; a `>` marks a track for one direction. A Solar card has an `arrow` instead: four two-way
    spurs that join a ring of this direction.
    """

    name: str
    faction: Faction | None
    arrow: Arrow | None
    stations: tuple[Slot, ...]
    tracks: tuple[str, ...]


class ShownCard(Struct, frozen=True):
    """A card of a hand, or one that waits to be carried out."""

    id: str
    face: Face


class ShownLaid(Struct, frozen=True):
    """A card on the map. `cell`: x to the east, y to the south. `rot`: quarter turns clockwise."""

    id: str
    cell: Cell
    rot: int
    face: Face


class ShownBase(Struct, frozen=True):
    """A base. `home_of`: the seat that has to reach it; null where nobody has."""

    name: Side
    cell: Cell
    home_of: int | None


class ShownShip(Struct, frozen=True):
    """A seat's ship. `movements_home`: the fewest, other ships ignored; null where no way leads home."""

    at: Stop
    cell: Cell
    home: Side
    movements_home: int | None


class ShownPending(Struct, frozen=True, rename={"source": "from"}):
    """A card that was brought up and must be carried out. `from`: what brought it up."""

    card: ShownCard
    source: Literal["unknown_fate", "scrap_yard"]


class View(Struct, frozen=True, kw_only=True):
    """A position as one seat sees it. Everything by seat is in seat order, seats from 0.

    `round`: from 1; after `last_round` the nearest ship wins. `start`: the seat that began. `turn`: the seat
    to act; null when the match is over. `faction`: the only one of which more cards may be played in this
    turn; null for any. `arrivals`: seats, first to last. `leaders`: who would win if the match ended now.
    `hand`: the viewer's cards; null for a spectator. `discard`: card ids, the top last. `resolving`: ids of
    the cards of the running chain, as played. `removed`: ids of the Solar cards that black holes took.
    `notices`: what came about by itself in the last move.
    """

    players: int
    start: int
    round: int
    last_round: int
    turn: int | None
    phase: Phase
    faction: Faction | None
    map: tuple[ShownLaid, ...]
    bases: tuple[ShownBase, ...]
    ships: tuple[ShownShip, ...]
    arrivals: tuple[int, ...]
    leaders: tuple[int, ...]
    hand: tuple[ShownCard, ...] | None
    hand_sizes: tuple[int, ...]
    draw_pile_size: int
    discard: tuple[str, ...]
    resolving: tuple[str, ...]
    pending: ShownPending | None
    removed: tuple[str, ...]
    notices: tuple[Notice, ...]


_FACES = tuple(Face(card.name, card.faction, card.arrow, card.slots, card.tracks) for card in CARDS)
_CARDS = tuple(ShownCard(card.id, face) for card, face in zip(CARDS, _FACES, strict=True))
_IDS = tuple(card.id for card in CARDS)


def view(state: State, seat: int | None) -> View:
    """`seat`: None is a spectator."""
    return View(
        players=state.players,
        start=state.start,
        round=state.round,
        last_round=LAST_ROUND,
        turn=None if state.phase == "over" else state.turn,
        phase=state.phase,
        faction=state.faction or None,
        map=tuple(_laid(laid) for laid in state.sky.cards),
        bases=_bases(state),
        ships=tuple(_ship(state, other) for other in range(state.players)),
        arrivals=state.arrivals,
        leaders=leaders(state),
        hand=None if seat is None else tuple(_CARDS[card] for card in state.hands[seat]),
        hand_sizes=tuple(len(hand) for hand in state.hands),
        draw_pile_size=len(state.draw_pile),
        discard=_ids(state.discard),
        resolving=_ids(state.resolving),
        pending=_pending(state),
        removed=_ids(state.removed),
        notices=state.notices,
    )


def redact(move: Move, by: int, viewer: int | None) -> Move:
    """Every move is made in the open: cards are played and discarded face up."""
    return move


def _ids(cards: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(_IDS[card] for card in cards)


def _laid(laid: Laid) -> ShownLaid:
    return ShownLaid(_IDS[laid.card], laid.cell, laid.rot, _FACES[laid.card])


def _bases(state: State) -> tuple[ShownBase, ...]:
    owners = {home: seat for seat, home in enumerate(HOMES[state.players])}
    cells = enumerate(state.sky.bases)
    return tuple(ShownBase(SIDES[base], cell, owners.get(base)) for base, cell in cells if cell)


def _ship(state: State, seat: int) -> ShownShip:
    at, home = state.ships[seat], state.home(seat)
    cell = state.sky.bases[at] if at < len(SIDES) else state.sky.places[CARD_OF[at]].cell
    assert cell, "a ship stands on the map"
    return ShownShip(STOP_AT[at], cell, SIDES[home], distance(state.sky, at, home))


def _pending(state: State) -> ShownPending | None:
    if state.pending is None:
        return None
    source: Literal["unknown_fate", "scrap_yard"] = (
        "unknown_fate" if KIND[state.resolving[-1]] == "unknown_fate" else "scrap_yard"
    )
    return ShownPending(_CARDS[state.pending], source)
