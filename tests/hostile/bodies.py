"""Texts and bytes that are nearly, or not at all, what this API reads."""

import random

_TEXTS = (
    "",
    "null",
    "[]",
    "{",
    "[" * 50_000,
    '{"move":' + "[" * 50_000,
    '{"move":' + '{"a":' * 5_000 + "1" + "}" * 5_001,
    '{"move":{"type":"x"},"expected_version":' + "9" * 5000 + "}",
    '{"move":{"type":"x"},"expected_version":-1}',
    '{"move":{"type":"x"},"expected_version":1e400}',
    '{"move":{"type":"x"},"expected_version":true}',
    '{"move":"\\u0000","expected_version":1}',
    '{"move":{"type":"\\ud800"},"expected_version":1}',
    '{"move":{},"expected_version":1,"unknown":1}',
    '{"type":"move","move":{},"expected_version":1}',
    '{"type":"follow","match":"\\u0000"}',
    '{"type":"follow","match":"*.>"}',
    '{"type":"hello","token":7}',
    '{"type":"unheard_of"}',
)
BODIES = (*(text.encode() for text in _TEXTS), b"\xff\xfe\x00", b"\x00" * 1000, b'{"move":"\xc3\x28"}')
GOOD = b'{"move":{"type":"play","card":1},"expected_version":1,"id":"a"}'


def ruined(rng: random.Random, good: bytes = GOOD) -> bytes:
    """A body that is nearly good."""
    at, length = rng.randrange(len(good)), rng.randrange(1, 6)
    return good[:at] + rng.randbytes(length) + good[at + rng.randrange(4) :]
