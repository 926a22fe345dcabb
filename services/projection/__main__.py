"""`python -m services.projection`: follows the published events and answers questions over many matches."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import structlog
from waystation.events.v1.events_pb2 import PublishedEvent
from waystation.projection.v1.projection_pb2_grpc import add_ProjectionServiceServicer_to_server

from services.kit import announce, plain_redis
from services.kit.announce import Announcer
from services.kit.bus import Bus
from services.kit.channels import Channels
from services.kit.consume import Consumer
from services.kit.directory import Directory
from services.kit.process import ServiceSettings, StartFailed, run
from services.kit.redis_library import UnsafeRedis
from services.kit.redis_store import RedisStore
from services.kit.rpc_server import RpcServer
from services.projection.follow import Follower
from services.projection.models import ReadModels
from services.projection.servicer import ProjectionServicer
from services.projection.sources import Sources

STOP_S_MAX = 3.0

log = structlog.get_logger()


class ProjectionSettings(ServiceSettings, frozen=True, kw_only=True):
    """`lobby_address`: instead of what the directory says."""

    lobby_address: str = ""


async def main(settings: ProjectionSettings, stop: asyncio.Event) -> None:
    """Serves until `stop` is set; then finishes what is open and leaves."""
    async with AsyncExitStack() as parts:
        store = await _store(settings)
        parts.push_async_callback(store.close)
        redis = plain_redis.connect(settings.redis_url)
        parts.push_async_callback(redis.aclose)
        directory = Directory(redis, {"lobby": settings.lobby_address})
        await directory.start()
        parts.push_async_callback(directory.stop)
        channels = Channels()
        parts.push_async_callback(channels.close)

        models = ReadModels(redis)
        sources = Sources(directory, channels)
        follower = Follower(models, sources.missing)
        bus = Bus(settings.nats_url, "projection")
        bus.start()
        parts.push_async_callback(bus.stop)
        consumer = Consumer(bus, "projection", lambda batch: follower.follow(_events(batch)))
        consumer.start()
        parts.push_async_callback(consumer.stop)

        server = RpcServer(settings, "projection")
        servicer = ProjectionServicer(store, models, sources, follower)
        server.add(
            add_ProjectionServiceServicer_to_server,
            servicer,
            "waystation.projection.v1.ProjectionService",
        )
        address = settings.address(await server.start())
        parts.push_async_callback(server.stop, STOP_S_MAX)
        announcer = Announcer(redis, announce.Service("projection", address))
        await announcer.start()
        parts.push_async_callback(announcer.stop)
        log.info("service_started", address=address)
        await stop.wait()
        await announcer.drain()


def _events(batch: Sequence[bytes]) -> list[PublishedEvent]:
    return [PublishedEvent.FromString(payload) for payload in batch]


async def _store(settings: ProjectionSettings) -> RedisStore:
    try:
        return await RedisStore.open(settings.redis_url, unsafe=settings.redis_unsafe)
    except (UnsafeRedis, ValueError) as error:
        raise StartFailed(str(error)) from error


if __name__ == "__main__":
    run("projection", main, ProjectionSettings)
