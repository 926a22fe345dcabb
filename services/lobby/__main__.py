"""`python -m services.lobby`: one lobby, from its start to its last answer."""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated

import structlog
from msgspec import Meta
from waystation.lobby.v1.lobby_pb2_grpc import add_LobbyServiceServicer_to_server

from services.core.ids import table_stream
from services.kit.announce import announce_service
from services.kit.backends import backends
from services.kit.cache import Room
from services.kit.process import run
from services.kit.relay import Relay
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings
from services.kit.store import LOBBY
from services.kit.tasks import ended
from services.lobby.desk import Stored
from services.lobby.ids import ids_of
from services.lobby.lobby import Lobby
from services.lobby.published import Published, published

STOP_S_MAX = 3.0

log = structlog.get_logger()

Count = Annotated[int, Meta(ge=1)]


class LobbySettings(ServiceSettings, frozen=True, kw_only=True):
    """`lobby_secret`: ids and invite codes derive from it; empty for one that lobbies share in Redis.

    `cached_tables`, `cached_bytes`: how many are kept folded, and how much memory they may take.
    `open_tables_per_player`: how many one player may host at a time.
    """

    lobby_secret: str = ""
    cached_tables: Count = 4_096
    cached_bytes: Count = 32 * 1024 * 1024
    open_tables_per_player: Count = 100


async def main(settings: LobbySettings, stop: asyncio.Event) -> None:
    """Serves until `stop` is set; then finishes what is open and leaves."""
    async with backends(settings, "lobby") as behind, AsyncExitStack() as parts:
        relay = Relay(behind.bus, behind.store, LOBBY, Published(behind.store).payload)
        relay.start()
        parts.push_async_callback(relay.stop)

        def publish(stored: Stored) -> None:
            message = published(stored).SerializeToString()
            relay.publish(table_stream(stored.table.id), stored.entry, message)

        ids = await ids_of(behind.redis, settings.lobby_secret)
        lobby = Lobby(
            behind.store,
            behind.redis,
            behind.directory,
            behind.channels,
            ids,
            publish,
            Room(values=settings.cached_tables, bytes=settings.cached_bytes),
            settings.open_tables_per_player,
        )
        sweeping = asyncio.create_task(lobby.sweeper.keep_sweeping())
        parts.push_async_callback(ended, sweeping)
        server = RpcServer(settings, "lobby")
        server.add(add_LobbyServiceServicer_to_server, lobby.servicer, "waystation.lobby.v1.LobbyService")
        address = settings.address(await server.start())
        server.watch(lambda: behind.directory.is_current)
        parts.push_async_callback(server.stop, STOP_S_MAX)
        announcer = announce_service(behind.redis, "lobby", address)
        await announcer.start()
        parts.push_async_callback(announcer.stop)
        log.info("service_started", address=address)
        await stop.wait()
        await announcer.drain()


if __name__ == "__main__":
    run("lobby", main, LobbySettings)
