"""Lobbies and workers in this process, over real gRPC and a real store; and players that talk to them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
from msgspec import Raw
from redis.asyncio import Redis
from waystation.lobby.v1 import lobby_pb2 as pb
from waystation.lobby.v1.lobby_pb2_grpc import LobbyServiceStub, add_LobbyServiceServicer_to_server
from waystation.rules.v1.rules_pb2_grpc import add_RulesServiceServicer_to_server

from services.core.events import Event
from services.core.ids import MatchId, Slug, match_stream, table_stream
from services.kit import announce, plain_redis
from services.kit.announce import Announcer
from services.kit.cache import Room
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.redis_store import RedisStore
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings
from services.lobby.desk import Stored
from services.lobby.ids import ids_of
from services.lobby.lobby import Lobby
from services.rules.library import Library
from services.rules.worker import Worker
from tests.toy.titles.high_card import VERSIONS

TITLE = "high_card"
OPEN_TABLES = 12
LIBRARY = Library(VERSIONS, "How to play High Card.")


class Player:
    """Speaks to one lobby under one name."""

    def __init__(self, channels: Channels, address: str, name: str) -> None:
        self._channels = channels
        self._stub = channels.stub(LobbyServiceStub, address)
        self.name = name

    async def creates(
        self, request_id: str = "", title: str = TITLE, **wishes: Any
    ) -> pb.CreateTableResponse:
        request = pb.CreateTableRequest(player=self.name, request_id=request_id, title=title, **wishes)
        return await self._call(self._stub.CreateTable, request)

    async def takes(self, match: str, request_id: str = "", **wishes: Any) -> pb.TakeSeatResponse:
        request = pb.TakeSeatRequest(match=match, player=self.name, request_id=request_id, **wishes)
        return await self._call(self._stub.TakeSeat, request)

    async def leaves(self, match: str, request_id: str = "") -> pb.LeaveSeatResponse:
        request = pb.LeaveSeatRequest(match=match, player=self.name, request_id=request_id)
        return await self._call(self._stub.LeaveSeat, request)

    async def starts(self, match: str, request_id: str = "") -> pb.StartTableResponse:
        request = pb.StartTableRequest(match=match, player=self.name, request_id=request_id)
        return await self._call(self._stub.StartTable, request)

    async def quick(self, request_id: str = "", title: str = TITLE, **wishes: Any) -> pb.QuickMatchResponse:
        request = pb.QuickMatchRequest(player=self.name, request_id=request_id, title=title, **wishes)
        return await self._call(self._stub.QuickMatch, request)

    async def sees(self, match: str, invite: str = "") -> pb.GetTableResponse:
        return await self._call(self._stub.GetTable, pb.GetTableRequest(match=match, invite=invite))

    async def published(self, match: str, after: int = 0) -> pb.ListPublishedEventsResponse:
        request = pb.ListPublishedEventsRequest(match=match, after=after)
        return await self._call(self._stub.ListPublishedEvents, request)

    async def published_many(self, *matches: str) -> pb.BatchListPublishedEventsResponse:
        request = pb.BatchListPublishedEventsRequest(matches=matches)
        return await self._call(self._stub.BatchListPublishedEvents, request)

    async def _call(self, method: Any, request: Any) -> Any:
        return await self._channels.call(method, request, 10.0, "lobby")


class Site:
    """A store, workers of High Card, and lobbies. `told`: what all lobbies published, in order."""

    def __init__(self, parts: AsyncExitStack, url: str, store: RedisStore, redis: Redis) -> None:
        self._parts = parts
        self._url = url
        self.store = store
        self.redis = redis
        self.channels = Channels()
        self.directory = Directory(redis)
        self.lobbies: list[Lobby] = []
        self.addresses: list[str] = []
        self.told: list[Stored] = []

    async def add_lobby(self) -> Lobby:
        """One more lobby, with a connection to the store of its own. Its sweeper is run by the test."""
        store = await RedisStore.open(self._url)
        self._parts.push_async_callback(store.close)
        lobby = Lobby(
            store,
            self.redis,
            self.directory,
            self.channels,
            await ids_of(self.redis, ""),
            self.told.append,
            room=Room(values=100, bytes=1 << 30),
            open_tables=OPEN_TABLES,
        )
        self.lobbies.append(lobby)
        add, name = add_LobbyServiceServicer_to_server, "waystation.lobby.v1.LobbyService"
        self.addresses.append(await self._serve(lambda server: server.add(add, lobby.servicer, name)))
        return lobby

    async def add_worker(self) -> Announcer:
        """One more worker of High Card, known to the lobbies."""
        worker = Worker(
            LIBRARY, self.store, lambda news: None, lambda: LIBRARY.newest, Room(values=100, bytes=1 << 30)
        )
        add, name = add_RulesServiceServicer_to_server, "waystation.rules.v1.RulesService"
        address = await self._serve(lambda server: server.add(add, worker.servicer, name))
        announcer = await self.announce(address)
        await self.directory.refresh()
        return announcer

    async def announce(self, address: str) -> Announcer:
        """Says that a worker lives at `address`, whether that is true or not."""
        versions = tuple(LIBRARY.rulesets)
        announcer = Announcer(
            self.redis, announce.Worker(Slug(TITLE), address, versions, LIBRARY.description)
        )
        await announcer.start()
        self._parts.push_async_callback(announcer.stop)
        await self.directory.refresh()
        return announcer

    def player(self, name: str, lobby: int = 0) -> Player:
        return Player(self.channels, self.addresses[lobby], name)

    async def events(self, match: str) -> list[Event]:
        """What is stored of the table."""
        entries = await self.store.read(table_stream(MatchId(match)))
        return [msgspec.json.decode(entry.body, type=Event) for entry in entries]

    async def starts_of(self, match: str) -> int:
        """How many events the match has: 1 once it has started."""
        return (await self.store.heads([match_stream(MatchId(match))]))[0]

    async def keys(self) -> int:
        return int(await self.redis.dbsize())

    async def _serve(self, add: Callable[[RpcServer], None]) -> str:
        server = RpcServer(ServiceSettings(), "site")
        add(server)
        address = f"127.0.0.1:{await server.start()}"
        self._parts.push_async_callback(server.stop, 0)
        return address


@asynccontextmanager
async def site_on(url: str, lobbies: int = 1, workers: int = 1) -> AsyncIterator[Site]:
    async with AsyncExitStack() as parts:
        store = await RedisStore.open(url)
        parts.push_async_callback(store.close)
        redis = plain_redis.connect(url)
        parts.push_async_callback(redis.aclose)
        await redis.flushall()
        site = Site(parts, url, store, redis)
        parts.push_async_callback(site.channels.close)
        for _ in range(workers):
            await site.add_worker()
        for _ in range(lobbies):
            await site.add_lobby()
        yield site


def types_of(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def data_of(event: Event) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.json.decode(Raw(event.data))
    return data


async def all_of(*calls: Any) -> list[Any]:
    """The answers, refusals included, of calls made at once."""
    return await asyncio.gather(*calls, return_exceptions=True)
