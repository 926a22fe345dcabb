"""What can happen in a match: the `data` of each event type in a `match/` stream.

Storage format: the names and fields here are on disk (see `services.core.events`).
Any event may be the last one; it then carries the outcome and reveals the seed.
"""

import msgspec
from msgspec import Raw, Struct

from services.core.chance import LuckOutcome
from services.core.clock import Clock
from services.core.errors import HistoryCorrupt
from services.core.events import Event
from services.core.ids import StreamName
from services.core.title import Outcome
from services.core.upcast import current


class Sitting(Struct, frozen=True, omit_defaults=True):
    """Who sits at a seat, and the text that player added to the luck."""

    player: str
    nonce: str = ""


class Happening(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What every event of a match may carry: its outcome and the seed (Base64), if it ended the match."""

    outcome: Outcome | None = None
    seed: str = ""


class MatchStarted(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """Version 1. `commitment`: SHA-256 of the seed, Base64. `chance`: the luck of the set-up."""

    title: str
    rules_version: int
    options: Raw
    seats: tuple[Sitting, ...]
    private: bool = False
    clock: Clock | None = None
    commitment: str
    chance: list[LuckOutcome] = []


class MoveMade(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """`move`: the title's move, re-encoded from its typed form. `chance`: the luck it called for."""

    move: Raw
    chance: list[LuckOutcome] = []


class SeatResigned(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """The match ends; all other seats win together."""


class DrawOffered(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """Stands until it is answered or a move is made."""


class DrawAccepted(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """`offer`: the version of the offer. The match ends once every other seat has accepted."""

    offer: int


class DrawDeclined(Happening, frozen=True, omit_defaults=True, kw_only=True):
    offer: int


class TakebackRequested(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """The seat asks to go back to the position before its last move."""


class TakebackAccepted(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """`request`: its version. `to`: the version whose position stands again, once every other seat agreed."""

    request: int
    to: int = 0


class TakebackDeclined(Happening, frozen=True, omit_defaults=True, kw_only=True):
    request: int


class ClockFlagged(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """`seat` ran out of time; all other seats win together."""

    seat: int


class MatchAborted(Happening, frozen=True, omit_defaults=True, kw_only=True):
    """An operator ended the match; nobody wins. `note`: why, for the players."""

    note: str = ""


# Storage format: the type names in the envelope.
TYPES: dict[str, type[Happening]] = {
    "match_started": MatchStarted,
    "move_made": MoveMade,
    "seat_resigned": SeatResigned,
    "draw_offered": DrawOffered,
    "draw_accepted": DrawAccepted,
    "draw_declined": DrawDeclined,
    "takeback_requested": TakebackRequested,
    "takeback_accepted": TakebackAccepted,
    "takeback_declined": TakebackDeclined,
    "clock_flagged": ClockFlagged,
    "match_aborted": MatchAborted,
}
NAMES: dict[type[Happening], str] = {happening: name for name, happening in TYPES.items()}

_decoders = {name: msgspec.json.Decoder(happening).decode for name, happening in TYPES.items()}


def happening(stream: StreamName, event: Event) -> Happening:
    """The typed `data` of `event`, upcast to today's schema. Raises HistoryCorrupt if it is none of ours."""
    try:
        return _decoders[event.type](current(event.type, event.schema, event.data))
    except (KeyError, msgspec.MsgspecError) as error:
        raise HistoryCorrupt(stream, event.version, f"unreadable {event.type}: {error}") from error
