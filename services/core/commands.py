"""What can be asked of a match, in the imperative. Each accepted command becomes one event."""

import hashlib

import msgspec
from msgspec import Raw, Struct

from services.core.events import text_of
from services.core.ids import PlayerId

NOTE_MAX = 500  # characters of an operator's note


class Command(Struct, frozen=True, tag=True, forbid_unknown_fields=True, kw_only=True):
    """`expected_version`: refuse unless the match is at this version; None takes it as it is."""

    expected_version: int | None = None


class SubmitMove(Command, frozen=True, kw_only=True):
    """`move`: JSON of one of the title's moves."""

    move: Raw


class Resign(Command, frozen=True, kw_only=True):
    pass


class OfferDraw(Command, frozen=True, kw_only=True):
    pass


class AnswerDraw(Command, frozen=True, kw_only=True):
    """`offer`: the version of the offer that is answered."""

    offer: int
    accept: bool


class RequestTakeback(Command, frozen=True, kw_only=True):
    pass


class AnswerTakeback(Command, frozen=True, kw_only=True):
    """`request`: the version of the request that is answered."""

    request: int
    accept: bool


class FlagClock(Command, frozen=True, kw_only=True):
    """Issued by a worker when a deadline has passed."""


class Abort(Command, frozen=True, kw_only=True):
    """Issued by an operator. `note`: why, for the players."""

    note: str = ""


AnyCommand = (
    SubmitMove | Resign | OfferDraw | AnswerDraw | RequestTakeback | AnswerTakeback | FlagClock | Abort
)


class Issued(Struct, frozen=True, kw_only=True):
    """Who issued a command, when (UTC ms), and under which id of theirs. No player: the system did."""

    player: PlayerId | None = None
    at: int
    request_id: str = ""
    traceparent: str = ""


def request_key(command: Command, issued: Issued) -> str:
    """Names one request of one player: ids are scoped to the player and the kind of command."""
    return f"{issued.player}/{type(command).__name__}/{issued.request_id}"


def fingerprint(command: Command) -> str:
    """Equal for equal commands; 8 bytes of BLAKE2b, Base64. A move counts in its typed form."""
    return text_of(hashlib.blake2b(msgspec.json.encode(command), digest_size=8).digest())
