"""What is derived from a match's seed: the commitment, the salts, and the digests' key.

None of it but the commitment may be shown before the match is over: with salt or key in hand a
player could test guesses of hidden cards against a published hash or digest.
"""

import hashlib
import hmac
from functools import lru_cache

from services.core.events import text_of

SEED_BYTES = 32


def commitment(seed: bytes) -> str:
    """SHA-256 of the seed, Base64: published when the table is created, checked after the end."""
    return text_of(hashlib.sha256(seed).digest())


def salt(seed: bytes, version: int) -> str:
    """16 bytes for the entry at `version`, Base64."""
    return text_of(hmac.digest(seed, b"waystation/salt/v1:%d" % version, "sha256")[:16])


def digest(seed: bytes, canonical: bytes) -> str:
    """16 bytes of keyed BLAKE2b over a position's canonical encoding, Base64."""
    return text_of(hashlib.blake2b(canonical, key=_digest_key(seed), digest_size=16).digest())


@lru_cache(maxsize=4096)
def _digest_key(seed: bytes) -> bytes:
    return hmac.digest(seed, b"waystation/digest/v1", "sha256")
