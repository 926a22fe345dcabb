"""The ordinary Redis client for small things off the move path: directory, keys, players, hints."""

from collections.abc import Awaitable
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.core.errors import StoreUnavailable

REPLY_S_MAX = 2.0


def connect(url: str) -> Redis:
    """A client that answers in bytes; every command has a deadline. Connects when first used."""
    return Redis.from_url(
        url,
        socket_timeout=REPLY_S_MAX,
        socket_connect_timeout=REPLY_S_MAX,
        max_connections=32,
        # Once: a pooled connection may have died with the server's restart.
        retry=Retry(NoBackoff(), 1),
    )


async def answered(reply: Awaitable[Any]) -> Any:
    """What Redis replies. Raises StoreUnavailable when it does not, or refuses."""
    try:
        return await reply
    except (RedisError, OSError) as error:
        raise StoreUnavailable(f"{type(error).__name__}: {error}") from error
