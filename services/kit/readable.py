"""Messages that cannot be read, as values, and messages that are written already.

Left to itself, gRPC calls the former faults of the server, and takes none of the latter.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from services.core.errors import BadRequest

Read = Callable[[bytes], Any]
Write = Callable[[Any], bytes]


class Unreadable(NamedTuple):
    """What a handler is given in place of a message."""

    refusal: BadRequest


def readable(read: Read) -> Read:
    """`read`, with an Unreadable for bytes that are no message of its kind."""

    def reading(raw: bytes) -> Any:
        try:
            return read(raw)
        except DecodeError:
            return Unreadable(BadRequest("message", "is not of the kind that this method takes"))

    return reading


def written(write: Write) -> Write:
    """`write`, for streams that may also send bytes as they are."""

    def writing(message: Any) -> bytes:
        return message if isinstance(message, bytes) else write(message)

    return writing
