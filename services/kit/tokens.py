"""Signed tokens that say who a player is, and guests who can renew theirs.

The signing keys are Redis' and shared by all gateways; `kid` names the key of a token. A new key is
used for signing only once every gateway has had time to read it.
"""

import asyncio
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from itertools import pairwise
from typing import NamedTuple

import jwt
import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct
from redis.asyncio import Redis

from services.core.errors import StoreUnavailable, TokenInvalid
from services.core.ids import PlayerId
from services.kit.plain_redis import answered
from services.kit.tasks import ended

log = structlog.get_logger()

# Storage format: a hash, kid ("1", "2", ...) -> StoredKey.
KEYS = "identity:keys"

ALGORITHM = "EdDSA"
AUDIENCE = "waystation"
ISSUER = "waystation"
TOKEN_S = 24 * 60 * 60
ROTATE_AFTER_S = 90 * 24 * 60 * 60
REFRESH_S = 30.0
SPREAD_S = 120  # how long a new key rests before it signs
LEEWAY_S = 5
_SEEN_MAX = 10_000


class Holder(NamedTuple):
    """Who holds a token, and until when it is good (UTC s, the leeway for clocks included)."""

    player: PlayerId
    until: int


class StoredKey(Struct, frozen=True):
    """A signing key. `private`: the 32 raw bytes, Base64."""

    private: str
    created_at: int


class _Key(Struct, frozen=True):
    kid: str
    private: Ed25519PrivateKey
    public: Ed25519PublicKey
    created_at: int


class Tokens:
    """Issues and verifies tokens with the keys as of the last refresh."""

    def __init__(self, redis: Redis, lifetime_s: int = TOKEN_S) -> None:
        self._redis = redis
        self._lifetime_s = lifetime_s
        self._keys: dict[str, _Key] = {}
        self._seen: OrderedDict[str, Holder] = OrderedDict()
        self._refreshing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Reads the keys, making the first one if there is none. Raises StoreUnavailable."""
        await self.refresh()
        self._refreshing = asyncio.create_task(self._keep_refreshing())

    async def stop(self) -> None:
        await ended(self._refreshing)

    def issue(self, player: PlayerId) -> tuple[str, int]:
        """A token for `player`, and when it expires (UTC s)."""
        now = int(time.time())
        key = self._signing(now)
        expires_at = now + self._lifetime_s
        claims = {"sub": player, "iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": expires_at}
        return jwt.encode(claims, key.private, ALGORITHM, headers={"kid": key.kid}), expires_at

    def verify(self, token: str) -> Holder:
        """Raises TokenInvalid."""
        seen = self._seen.get(token)
        if seen is None:
            seen = self._proved(token)
            self._seen[token] = seen
            if len(self._seen) > _SEEN_MAX:
                self._seen.popitem(last=False)
        if time.time() > seen.until:
            del self._seen[token]
            raise TokenInvalid("it has expired")
        return seen

    async def rotate(self) -> None:
        """Adds a key, which signs after `SPREAD_S`; forgets keys whose last token has expired."""
        newest = max((int(kid) for kid in self._keys), default=0)
        now = int(time.time())
        fresh = Ed25519PrivateKey.generate().private_bytes_raw()
        stored = StoredKey(urlsafe_b64encode(fresh).decode(), now)
        # Two gateways may rotate at once: the first one's key stands.
        await answered(self._redis.hsetnx(KEYS, str(newest + 1), msgspec.json.encode(stored)))
        spent = self._spent(now)
        if spent:
            await answered(self._redis.hdel(KEYS, *spent))
        await self._read()

    async def refresh(self) -> None:
        """Reads the keys again; rotates when the newest is old. Raises StoreUnavailable."""
        await self._read()
        newest = max((key.created_at for key in self._keys.values()), default=0)
        if newest + ROTATE_AFTER_S < time.time():
            await self.rotate()

    async def _read(self) -> None:
        stored = await answered(self._redis.hgetall(KEYS))
        keys = {kid.decode(): _key(kid.decode(), raw) for kid, raw in stored.items()}
        if keys.keys() != self._keys.keys():
            self._seen.clear()
        self._keys = keys

    def _signing(self, now: int) -> _Key:
        """The newest key that everybody knows; before there is one, the oldest."""
        by_age = sorted(self._keys.values(), key=lambda key: int(key.kid))
        known = [key for key in by_age if key.created_at + SPREAD_S <= now]
        return known[-1] if known else by_age[0]

    def _spent(self, now: int) -> list[str]:
        """Keys that signed nothing still valid: a successor took over more than a token's life ago."""
        by_age = sorted(self._keys.values(), key=lambda key: int(key.kid))
        margin = SPREAD_S + self._lifetime_s + LEEWAY_S
        return [key.kid for key, successor in pairwise(by_age) if successor.created_at + margin < now]

    def _proved(self, token: str) -> Holder:
        try:
            kid = jwt.get_unverified_header(token).get("kid", "")
            key = self._keys.get(kid)
            if key is None:
                raise TokenInvalid("it is signed by an unknown key")
            claims = jwt.decode(
                token,
                key.public,
                algorithms=[ALGORITHM],
                audience=AUDIENCE,
                issuer=ISSUER,
                leeway=LEEWAY_S,
                options={"require": ["exp", "aud", "iss", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise TokenInvalid(str(error)) from None
        return Holder(PlayerId(claims["sub"]), int(claims["exp"]) + LEEWAY_S)

    async def _keep_refreshing(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_S)
            try:
                await self.refresh()
            except StoreUnavailable as error:
                log.warning("keys_refresh_failed", detail=str(error))


def _key(kid: str, raw: bytes) -> _Key:
    stored = msgspec.json.decode(raw, type=StoredKey)
    private = Ed25519PrivateKey.from_private_bytes(urlsafe_b64decode(stored.private))
    return _Key(kid, private, private.public_key(), stored.created_at)
