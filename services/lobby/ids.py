"""What is derived from the lobby's secret: ids of tables and invite codes, the same for the same request.

So a repeated create meets the table that the first one made, and nobody can guess either.
"""

import hmac
import secrets
from base64 import b32encode
from hashlib import sha256

from redis.asyncio import Redis

from services.core.events import text_of
from services.core.ids import MatchId, PlayerId
from services.kit.plain_redis import answered

SECRET_KEY = "lobby:secret"
SECRET_BYTES = 32

_ID_BYTES = 15  # 24 characters of Base32, no padding
_INVITE_BYTES = 16


class Ids:
    """Derives; holds the secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def table(self, player: PlayerId, kind: str, request_id: str) -> MatchId:
        """The id of the table that this request of this player creates: 24 lower-case letters and digits."""
        # Each part says how long it is, so that no two requests read the same.
        named = "".join(f"{len(part)}:{part}" for part in (kind, player, request_id))
        return MatchId(b32encode(self._derived(f"table/{named}", _ID_BYTES)).decode().lower())

    def invite(self, match: MatchId) -> str:
        """The code that admits people to a private table, 128 bits."""
        return text_of(self._derived(f"invite/{match}", _INVITE_BYTES))

    def _derived(self, what: str, size: int) -> bytes:
        return hmac.digest(self._secret, what.encode(), "sha256")[:size]


def invite_hash(invite: str) -> str:
    """What is stored of an invite code."""
    return text_of(sha256(invite.encode()).digest())


def is_invited(invite: str, stored: str) -> bool:
    """Whether `invite` is the code that `stored` is the hash of; takes as long for every wrong one."""
    return bool(stored) and hmac.compare_digest(invite_hash(invite), stored)


async def ids_of(redis: Redis, secret: str) -> Ids:
    """`secret`: an operator's, or empty for the one in Redis, made by the first lobby there was."""
    if secret:
        return Ids(sha256(secret.encode()).digest())
    await answered(redis.set(SECRET_KEY, secrets.token_bytes(SECRET_BYTES), nx=True))
    return Ids(await answered(redis.get(SECRET_KEY)))
