"""gRPC messages that no honest caller sends, made by what the proto says of each field."""

import random
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

TEXTS = (
    b"",
    b"\0",
    b"a\0b",
    b"*.>",
    b"../../etc/passwd",
    b"{p0}:match/x",
    b"x\r\nSET y 1\r\n",
    b"\xff\xfe",  # no UTF-8
    b"\xed\xa0\x80",  # a lone surrogate, as careless encoders write it
    "\U0001f600\u202e".encode(),
    b"9" * 5_000,
    b"x" * 100_000,
)
JSONS = (
    b"null",
    b"[]",
    b"{",
    b"[" * 50_000,
    b'{"a":' * 20_000,
    b"1e400",
    b'{"size":' + b"9" * 400 + b"}",
    b'"\\ud800"',
)
NUMBERS = (0, 1, -1, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1)
DEPTH_MAX = 3
_VARINT, _BYTES = 0, 2


def hostile(rng: random.Random, kind: Descriptor, number: int) -> Iterator[bytes]:
    """Messages that claim to be of `kind`: noise, nearly good ones, ones with unknown or endless fields."""
    for size in (1, 7, 60, 500, 100_000):
        yield rng.randbytes(size)
    for _ in range(number):
        good = message(rng, kind)
        yield good
        yield good + unknown_field(rng)
        yield good[: rng.randrange(len(good) + 1)]
        at = rng.randrange(len(good) + 1)
        yield good[:at] + rng.randbytes(rng.randrange(1, 5)) + good[at:]
    yield b"\x1b" * 10_000  # groups within groups
    yield nested(200)


def message(rng: random.Random, kind: Descriptor, depth: int = 0) -> bytes:
    """Some of the fields, each with a value that its type allows and its meaning does not."""
    fields = [field for field in kind.fields if rng.random() < 0.8]
    return b"".join(_field(rng, field, depth) for field in fields)


def unknown_field(rng: random.Random) -> bytes:
    return _tag(rng.randrange(1_000, 2_000), _BYTES) + _sized(rng.randbytes(rng.randrange(100)))


def nested(levels: int) -> bytes:
    body = b""
    for _ in range(levels):
        body = _tag(1, _BYTES) + _sized(body)
    return body


def _field(rng: random.Random, field: FieldDescriptor, depth: int) -> bytes:
    kind: Any = field.type
    if kind == FieldDescriptor.TYPE_MESSAGE:
        if depth >= DEPTH_MAX or field.message_type is None:
            return b""
        return _tag(field.number, _BYTES) + _sized(message(rng, field.message_type, depth + 1))
    if kind == FieldDescriptor.TYPE_STRING:
        return _tag(field.number, _BYTES) + _sized(rng.choice(TEXTS))
    if kind == FieldDescriptor.TYPE_BYTES:
        return _tag(field.number, _BYTES) + _sized(rng.choice(TEXTS + JSONS))
    return _tag(field.number, _VARINT) + _varint(rng.choice(NUMBERS))


def _tag(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _sized(body: bytes) -> bytes:
    return _varint(len(body)) + body


def _varint(number: int) -> bytes:
    number &= 2**64 - 1
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
