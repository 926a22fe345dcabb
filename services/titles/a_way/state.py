"""A position, and the encoding that digests are taken of. Cards and stops are numbers; see components."""

from struct import Struct as Layout
from typing import Literal, get_args

from msgspec import Struct

from services.titles.a_way.components import CARD_OF
from services.titles.a_way.star_map import StarMap

Phase = Literal["main", "playing", "resolve", "optional_move", "over"]
NoticeKind = Literal["revealed", "fetched", "fizzled", "pile_renewed", "arrived", "no_flight"]

HAND = 5
LAST_ROUND = 200

# By number of players: each seat's home base, 0-3 for N, E, S, W. Ships start at the base opposite.
HOMES: dict[int, tuple[int, ...]] = {2: (3, 1), 3: (0, 1, 2), 4: (0, 1, 2, 3)}


class Notice(Struct, frozen=True, omit_defaults=True):
    """Something that came about by itself in the last move.

    `revealed` by Unknown Fate, `fetched` by Scrap Yard, `fizzled` (not to be carried out): with the `card`.
    `pile_renewed`: the discard pile was shuffled. `arrived`: the seat's ship is home.
    `no_flight`: the flight after the main action fell away, since the seat's ship had nowhere to go.
    """

    kind: NoticeKind
    seat: int
    card: str | None = None


class State(Struct, frozen=True):
    """The whole position, hidden cards included.

    `start`: the seat that began. `round`: from 1. `ships`: the stop of each seat's ship. `arrivals`: seats,
    first to last. `hands`: each by rising card number. `draw_pile`: its top first. `discard`: its top last.
    `resolving`: cards of the running chain, as played. `pending`: the card that waits for its parameters.
    `faction`: the only one that may be played now, 0 for any. `removed`: Solar cards that black holes took.
    """

    players: int
    start: int
    turn: int
    sky: StarMap
    ships: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]
    draw_pile: tuple[int, ...]
    discard: tuple[int, ...]
    round: int = 1
    phase: Phase = "main"
    arrivals: tuple[int, ...] = ()
    resolving: tuple[int, ...] = ()
    pending: int | None = None
    faction: int = 0
    removed: tuple[int, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def hand(self) -> tuple[int, ...]:
        """The cards of the seat whose turn it is."""
        return self.hands[self.turn]

    def home(self, seat: int) -> int:
        return HOMES[self.players][seat]

    def others(self, seat: int) -> frozenset[int]:
        """The stops of all ships but this seat's."""
        return frozenset(stop for other, stop in enumerate(self.ships) if other != seat)

    @property
    def cards_with_ship(self) -> frozenset[int]:
        return frozenset(CARD_OF[stop] for stop in self.ships)


_FORMAT = 1
_NONE = 255
_PHASES: tuple[str, ...] = get_args(Phase)
_HEAD = Layout(">BBBBHBBB")
_CELL = Layout(">Bhh")
_LAID = Layout(">BBhh")


def canonical(state: State) -> bytes:
    """The encoding of a position: the same bytes exactly for positions that are equal in play and to the eye.

    In order: format 1, players, start, turn, round (2 bytes), phase, faction, pending card (255 none);
    each ship's stop; then lists, each with its length before it: arrivals, every hand, draw pile, discard
    pile, resolving, removed; the bases N, E, S, W as (present, x, y); the number of cards on the map, and
    by rising number each as (card, rot, x, y). One byte each, but x and y two with sign; big-endian.
    Notices are left out: they tell how a position came about.
    """
    phase = _PHASES.index(state.phase)
    pending = _NONE if state.pending is None else state.pending
    parts = [
        _HEAD.pack(
            _FORMAT, state.players, state.start, state.turn, state.round, phase, state.faction, pending
        ),
        bytes(state.ships),
    ]
    lists = (state.arrivals, *state.hands, state.draw_pile, state.discard, state.resolving, state.removed)
    for numbers in lists:
        parts += (bytes((len(numbers),)), bytes(numbers))
    parts += (_CELL.pack(base is not None, *(base or (0, 0))) for base in state.sky.bases)
    parts.append(bytes((len(state.sky.cards),)))
    parts += (_LAID.pack(card, rot, x, y) for card, x, y, rot in state.sky.cards)
    return b"".join(parts)
