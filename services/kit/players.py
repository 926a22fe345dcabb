"""Guest players: an id for everybody who asks, and a recovery secret that renews its tokens."""

import hmac
import secrets
import time
from hashlib import sha256

from msgspec import Struct
from redis.asyncio import Redis

from services.core.errors import NoSuchPlayer, TokenInvalid
from services.core.ids import PlayerId
from services.kit.plain_redis import answered

ISSUER = "guest"


class Guest(Struct, frozen=True):
    """A new player. `recovery` is shown this once; only its hash is kept."""

    player: PlayerId
    recovery: str


class Players:
    """Guests, kept in Redis for good: identity lasts longer than a token."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def create(self) -> Guest:
        """Raises StoreUnavailable."""
        player = player_id(ISSUER, secrets.token_urlsafe(16))
        guest = Guest(player, secrets.token_urlsafe(32))
        trip = self._redis.pipeline(transaction=True)
        trip.hset(_key(player), "recovery", _hashed(guest.recovery))
        trip.hset(_key(player), "created_at", str(int(time.time())))
        await answered(trip.execute())
        return guest

    async def recovered(self, player: str, recovery: str) -> PlayerId:
        """`player`, whose secret this is. Raises NoSuchPlayer, TokenInvalid, StoreUnavailable."""
        kept = await answered(self._redis.hget(_key(player), "recovery"))
        if kept is None:
            raise NoSuchPlayer(player)
        if not hmac.compare_digest(kept, _hashed(recovery)):
            raise TokenInvalid("this is not the player's recovery secret")
        return PlayerId(player)


def player_id(issuer: str, subject: str) -> PlayerId:
    """The player that `issuer` knows as `subject`: the same one for ever. 26 characters, URL-safe."""
    digest = sha256(f"{len(issuer)}:{issuer}{subject}".encode()).hexdigest()
    return PlayerId(f"p_{digest[:24]}")


def _key(player: str) -> str:
    return f"identity:player:{player}"


def _hashed(secret: str) -> bytes:
    # The secret has 256 random bits: a plain hash cannot be guessed backwards.
    return sha256(secret.encode()).hexdigest().encode()
