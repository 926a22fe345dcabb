"""The envelope in which every event is stored, and the hash chain that binds the entries.

Storage format: the names and meanings here are on disk. New fields are optional and have a
default; anything else needs a new `schema` number and an upcaster (`services.core.upcast`).
"""

import hashlib
from base64 import urlsafe_b64decode
from binascii import b2a_base64

import msgspec
from msgspec import Raw, Struct

from services.core.errors import HistoryCorrupt
from services.core.ids import StreamName

SYSTEM = "system"


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stored fact. In `match/` streams `by` is a seat; in `table/` streams a player id; or `system`.

    `at`: UTC ms, never below the predecessor's. `request_id` and `fingerprint`: the client's id of the
    command that caused this, and what the command said. `digest`: keyed, of the position after this
    event. `salt`: secret until the match is over, so that a published hash gives nothing away.
    """

    type: str
    version: int
    schema: int = 1
    at: int
    by: int | str
    request_id: str = ""
    fingerprint: str = ""
    data: Raw
    digest: str = ""
    salt: str = ""
    traceparent: str = ""


class Entry(Struct, frozen=True):
    """An event as it lies in the store: its JSON, and the chain's hash after it (32 bytes)."""

    version: int
    body: bytes
    hash: bytes


_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(Event)
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def genesis(stream: StreamName) -> bytes:
    """The hash before version 1: it binds the chain to the stream's name."""
    return hashlib.sha256(b"waystation/stream/v1:" + stream.encode()).digest()


def seal(event: Event, previous: bytes) -> Entry:
    """`event` as an entry that follows the entry with hash `previous`."""
    body = _encode(event)
    return Entry(event.version, body, hashlib.sha256(previous + body).digest())


def unseal(stream: StreamName, entry: Entry, previous: bytes, version: int) -> Event:
    """The event in `entry`. Raises HistoryCorrupt unless it is `version` and follows `previous`."""
    if entry.version != version:
        raise HistoryCorrupt(stream, version, f"the stream goes on with version {entry.version}")
    if hashlib.sha256(previous + entry.body).digest() != entry.hash:
        raise HistoryCorrupt(stream, version, "the entry does not match its hash")
    try:
        event = _decoder.decode(entry.body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise HistoryCorrupt(stream, version, f"the entry is no event: {error}") from error
    if event.version != version:
        raise HistoryCorrupt(stream, version, f"the entry says that it is version {event.version}")
    return event


def text_of(raw: bytes) -> str:
    """Bytes as they are written in JSON: URL-safe Base64 without padding."""
    return b2a_base64(raw, newline=False).translate(_URL_SAFE, b"=").decode()


def bytes_of(text: str) -> bytes:
    """The reverse of `text_of`. Raises ValueError for any other text."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
