"""`python -m services.lobby`: one lobby, from its start to its last answer."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Annotated, Any

import structlog
from msgspec import Meta
from waystation.lobby.v1.lobby_pb2_grpc import add_LobbyServiceServicer_to_server

from services.core.ids import table_stream
from services.kit import plain_redis
from services.kit.announce import announce_service
from services.kit.bus import Bus
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.process import ServiceSettings, StartFailed, run
from services.kit.redis_library import UnsafeRedis
from services.kit.redis_store import RedisStore
from services.kit.relay import Relay
from services.kit.rpc_server import RpcServer
from services.kit.store import LOBBY
from services.kit.tasks import ended
from services.lobby.desk import Stored
from services.lobby.ids import ids_of
from services.lobby.lobby import Lobby
from services.lobby.published import Published, published

STOP_S_MAX = 3.0

log = structlog.get_logger()


class LobbySettings(ServiceSettings, frozen=True, kw_only=True):
    """`lobby_secret`: ids and invite codes derive from it; empty for one that lobbies share in Redis.

    `cached_tables`: how many are kept folded in memory.
    """

    lobby_secret: str = ""
    cached_tables: Annotated[int, Meta(ge=1)] = 4_096


async def main(settings: LobbySettings, stop: asyncio.Event) -> None:
    """Serves until `stop` is set; then finishes what is open and leaves."""
    async with AsyncExitStack() as parts:
        store = await _store(settings)
        parts.push_async_callback(store.close)
        redis = plain_redis.connect(settings.redis_url)
        parts.push_async_callback(redis.aclose)
        channels = Channels()
        parts.push_async_callback(channels.close)
        directory = Directory(redis)
        await directory.start()
        parts.push_async_callback(directory.stop)
        relay = await _relay(parts, settings, store)

        def publish(stored: Stored) -> None:
            message = published(stored).SerializeToString()
            relay.publish(table_stream(stored.table.id), stored.entry, message)

        ids = await ids_of(redis, settings.lobby_secret)
        lobby = Lobby(store, redis, directory, channels, ids, publish, settings.cached_tables)
        _keep(parts, lobby.sweeper.keep_sweeping())
        server = RpcServer(settings, "lobby")
        server.add(add_LobbyServiceServicer_to_server, lobby.servicer, "waystation.lobby.v1.LobbyService")
        address = settings.address(await server.start())
        parts.push_async_callback(server.stop, STOP_S_MAX)
        announcer = announce_service(redis, "lobby", address)
        await announcer.start()
        parts.push_async_callback(announcer.stop)
        log.info("service_started", address=address)
        await stop.wait()


async def _store(settings: LobbySettings) -> RedisStore:
    try:
        return await RedisStore.open(settings.redis_url, unsafe=settings.redis_unsafe)
    except (UnsafeRedis, ValueError) as error:
        raise StartFailed(str(error)) from error


async def _relay(parts: AsyncExitStack, settings: LobbySettings, store: RedisStore) -> Relay:
    """Publishes tables' events; play goes on without NATS."""
    try:
        bus = Bus(settings.nats_url, "lobby")
    except ValueError as error:
        raise StartFailed(str(error)) from error
    bus.start()
    parts.push_async_callback(bus.stop)
    relay = Relay(bus, store, LOBBY, Published(store).payload)
    relay.start()
    parts.push_async_callback(relay.stop)
    return relay


def _keep(parts: AsyncExitStack, work: Coroutine[Any, Any, None]) -> None:
    """Runs `work` in the background until `parts` are taken down."""
    parts.push_async_callback(ended, asyncio.create_task(work))


if __name__ == "__main__":
    run("lobby", main, LobbySettings)
