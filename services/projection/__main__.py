"""`python -m services.projection`: follows the published events and answers questions over many matches."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import structlog
from waystation.events.v1.events_pb2 import PublishedEvent
from waystation.projection.v1.projection_pb2_grpc import add_ProjectionServiceServicer_to_server

from services.kit.announce import announce_service
from services.kit.backends import backends
from services.kit.consume import Consumer
from services.kit.process import run
from services.kit.redis_link import RedisLink
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings
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
    fixed = {"lobby": settings.lobby_address}
    async with backends(settings, "projection", fixed) as behind, AsyncExitStack() as parts:
        # Of its own: a read model need not wait for replicas, as the store may have to.
        link = RedisLink(settings.redis_url)
        parts.push_async_callback(link.close)
        models = ReadModels(link)
        sources = Sources(behind.directory, behind.channels)
        follower = Follower(models, sources.missing)
        consumer = Consumer(behind.bus, "projection", lambda batch: follower.follow(_events(batch)))
        consumer.start()
        parts.push_async_callback(consumer.stop)

        server = RpcServer(settings, "projection", unhurried={"Rebuild"})
        servicer = ProjectionServicer(behind.store, models, sources, follower)
        server.add(
            add_ProjectionServiceServicer_to_server,
            servicer,
            "waystation.projection.v1.ProjectionService",
        )
        address = settings.address(await server.start())
        server.watch(lambda: behind.directory.is_current)
        parts.push_async_callback(server.stop, STOP_S_MAX)
        announcer = announce_service(behind.redis, "projection", address)
        await announcer.start()
        parts.push_async_callback(announcer.stop)
        log.info("service_started", address=address)
        await stop.wait()
        await announcer.drain()


def _events(batch: Sequence[bytes]) -> list[PublishedEvent]:
    return [PublishedEvent.FromString(payload) for payload in batch]


if __name__ == "__main__":
    run("projection", main, ProjectionSettings)
