"""What every service stands on, opened at its start and closed in reverse: Redis, NATS, and each other."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct
from redis.asyncio import Redis

from services.core.errors import StoreUnavailable
from services.kit import plain_redis
from services.kit.bus import Bus
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.process import StartFailed
from services.kit.redis_library import UnsafeRedis
from services.kit.redis_place import redis_place
from services.kit.redis_store import RedisStore
from services.kit.settings import ServiceSettings, Settings


class Backends(Struct, frozen=True):
    """`redis` is for small things off the move path; `bus` may be away at any time."""

    store: RedisStore
    redis: Redis
    channels: Channels
    directory: Directory
    bus: Bus


@asynccontextmanager
async def backends(
    settings: ServiceSettings, service: str, fixed: Mapping[str, str] | None = None
) -> AsyncIterator[Backends]:
    """Opens them for `service`; `fixed`: addresses of services that need no announcement.

    Raises StartFailed for a Redis that is not safe or does not answer, and for a URL that is none. NATS
    may be away.
    """
    async with AsyncExitStack() as closing:
        store = await opened_store(settings, settings.redis_replicas)
        closing.push_async_callback(store.close)
        redis = plain_redis.connect(settings.redis_url)
        closing.push_async_callback(redis.aclose)
        channels = Channels()
        closing.push_async_callback(channels.close)
        directory = Directory(redis, fixed)
        await directory.start()
        closing.push_async_callback(directory.stop)
        bus = _bus(settings, service)
        bus.start()
        closing.push_async_callback(bus.stop)
        yield Backends(store, redis, channels, directory, bus)


async def opened_store(settings: Settings, replicas: int = 0) -> RedisStore:
    """A store for the caller to close; `replicas`: for those who write, see `RedisLink`.

    Raises StartFailed for a Redis that is not safe or does not answer, and for a URL that is none.
    """
    try:
        return await RedisStore.open(settings.redis_url, unsafe=settings.redis_unsafe, replicas=replicas)
    except (UnsafeRedis, ValueError) as error:
        raise StartFailed(str(error)) from error
    except StoreUnavailable as error:
        raise StartFailed(f"REDIS_URL ({redis_place(settings.redis_url).shown}): {error}") from error


def _bus(settings: ServiceSettings, service: str) -> Bus:
    try:
        return Bus(settings.nats_url, service, replicas=settings.nats_replicas)
    except ValueError as error:
        raise StartFailed(str(error)) from error
