"""Who calls, and what every mutating call carries besides its body."""

import re
import secrets
import time
from typing import Annotated

from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import Meta, Struct

from services.core.errors import BadRequest
from services.core.ids import PlayerId

_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")
_TRACEPARENT = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


Version = Annotated[int, Meta(ge=0, le=1 << 53)]  # of a match, as clients write it
OPERATOR = PlayerId("")


class Reader(Struct, frozen=True):
    """Who wants to see something. No player: a spectator. `invite`: the code of a private match.

    `address`: where the request comes from. `until`: when the player's token expires (UTC s).
    """

    player: PlayerId | None = None
    invite: str = ""
    address: str = ""
    until: float | None = None


class Sender(Struct, frozen=True):
    """Who wants to change something, under which id of theirs, as part of which trace.

    The operator's `player` is empty.
    """

    player: PlayerId
    request_id: str
    traceparent: str = ""


class Guarded(Struct, frozen=True):
    """A sender whose command is refused unless the match is at `expected_version`; None takes it as it is."""

    sender: Sender
    expected_version: int | None


def request_id_of(text: str | None) -> str:
    """`text`, or a random id when there is none. Raises BadRequest for one that cannot be an id."""
    if not text:
        return secrets.token_urlsafe(16)
    if not _REQUEST_ID.fullmatch(text):
        raise BadRequest("Idempotency-Key", "is not 1 to 128 visible ASCII characters")
    return text


VERSION_MAX = 10**15 - 1
# A version in headers, paths and queries is taken as text, so that what is none gets a problem of ours.
VERSION_TEXT = "[0-9]{1,15}"
VERSION_SCHEMA = {"type": "integer", "minimum": 0, "maximum": VERSION_MAX}


def version_of(text: str, field: str) -> int:
    """The version that `text` says. Raises BadRequest that names `field`."""
    if not re.fullmatch(VERSION_TEXT, text):
        raise BadRequest(field, "is no version of a match")
    return int(text)


def version_if_any(text: str | None, field: str) -> int | None:
    """None where nothing is said."""
    return version_of(text, field) if text else None


def traceparent_of(text: str | None) -> str:
    """`text` if it is a W3C trace context; anything else is dropped."""
    return text if text and _TRACEPARENT.fullmatch(text) else ""


def now() -> Timestamp:
    """The moment at which a command reached the gateway."""
    seconds, nanos = moment()
    return Timestamp(seconds=seconds, nanos=nanos)


def moment() -> tuple[int, int]:
    """The same as seconds and the nanoseconds of the next one."""
    return divmod(time.time_ns(), 1_000_000_000)
