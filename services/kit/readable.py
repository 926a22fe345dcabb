"""Messages that cannot be read, as values: left to itself, gRPC calls them faults of the server."""

from collections.abc import Callable
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from services.core.errors import BadRequest

Read = Callable[[bytes], Any]


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
