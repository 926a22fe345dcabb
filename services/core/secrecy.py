"""What is derived from a match's seed: the commitment, the salts, and the digests' key.

None of it but the commitment may be shown before the match is over: with salt or key in hand a
player could test guesses of hidden cards against a published hash or digest.
"""

import hashlib
import hmac
from functools import lru_cache
from typing import Any

from services.core.events import text_of

SEED_BYTES = 32
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


def commitment(seed: bytes) -> str:
    """SHA-256 of the seed, Base64: published when the table is created, checked after the end."""
    return text_of(hashlib.sha256(seed).digest())


def salt(seed: bytes, version: int) -> str:
    """16 bytes for the entry at `version`, Base64."""
    return text_of(_hmac(seed, b"waystation/salt/v1:%d" % version)[:16])


def digest(seed: bytes, canonical: bytes) -> str:
    """16 bytes of keyed BLAKE2b over a position's canonical encoding, Base64."""
    return text_of(hashlib.blake2b(canonical, key=_digest_key(seed), digest_size=16).digest())


@lru_cache(maxsize=4096)
def _digest_key(seed: bytes) -> bytes:
    return hmac.digest(seed, b"waystation/digest/v1", "sha256")


def _hmac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 (RFC 2104) in less than half the time of `hmac.digest`: every event has a salt."""
    inner, outer = _keyed(key)
    within = inner.copy()
    within.update(message)
    around = outer.copy()
    around.update(within.digest())
    hashed: bytes = around.digest()
    return hashed


@lru_cache(maxsize=4096)
def _keyed(key: bytes) -> tuple[Any, Any]:
    """The inner and the outer hash after their first block. `key`: at most 64 bytes."""
    block = key.ljust(64, b"\0")
    return hashlib.sha256(block.translate(_INNER)), hashlib.sha256(block.translate(_OUTER))
