"""The ordinary Redis client for small things off the move path: directory, keys, players, hints."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.core.errors import StoreUnavailable
from services.kit.redis_place import SENTINEL_S_MAX, redis_place

REPLY_S_MAX = 2.0


def connect(url: str) -> Redis:
    """A client that answers in bytes; every command has a deadline. Connects when first used.

    `url`: see `redis_place`. Raises ValueError.
    """
    place = redis_place(url)
    options: dict[str, Any] = {
        "socket_timeout": REPLY_S_MAX,
        "socket_connect_timeout": REPLY_S_MAX,
        "max_connections": 32,
        # Once: a pooled connection may have died with the server's restart.
        "retry": Retry(NoBackoff(), 1),
    }
    if not place.primary_name:
        return Redis.from_url(url, **options)
    untyped: Callable[..., Any] = Sentinel  # redis-py has no types here
    sentinels = untyped(
        place.addresses,
        sentinel_kwargs={
            "username": place.sentinel_user or None,
            "password": place.sentinel_password or None,
            "ssl": place.is_tls,
            "socket_timeout": SENTINEL_S_MAX,
            "socket_connect_timeout": SENTINEL_S_MAX,
        },
        username=place.user if place.password else None,
        password=place.password or None,
        db=place.database,
        ssl=place.is_tls,
        **options,
    )
    return cast(Redis, sentinels.master_for(place.primary_name))


async def answered(reply: Awaitable[Any]) -> Any:
    """What Redis replies. Raises StoreUnavailable when it does not, or refuses."""
    try:
        return await reply
    except (RedisError, OSError) as error:
        raise StoreUnavailable(f"{type(error).__name__}: {error}") from error
