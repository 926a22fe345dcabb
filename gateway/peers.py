"""The services behind the gateway that are called one request at a time: lobby and projection."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import grpc
from waystation.lobby.v1 import lobby_pb2, lobby_pb2_grpc
from waystation.projection.v1 import projection_pb2_grpc

from services.core.errors import ServiceDown
from services.core.ids import MatchId
from services.kit.channels import Channels, Method
from services.kit.directory import Directory

CALL_S_MAX = 5.0

StubT = TypeVar("StubT")
RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")


class Peer(Generic[StubT]):
    """A service by name, wherever the directory finds it."""

    def __init__(
        self,
        name: str,
        stub: Callable[[grpc.aio.Channel], StubT],
        channels: Channels,
        directory: Directory,
    ) -> None:
        self._name = name
        self._stub = stub
        self._channels = channels
        self._directory = directory

    async def call(
        self, method: Callable[[StubT], Method[RequestT, ResponseT]], request: RequestT
    ) -> ResponseT:
        """`method`: of the service's stub. Requests for one match, or else of one player, go to one process.

        `request` must be a read or carry a request id: where one process is away another is asked once.
        Raises what the service refuses with, ServiceDown, or Deadline.
        """
        key = _key(request)
        address = self._directory.service(self._name, key)
        try:
            return await self._call_at(address, method, request)
        except ServiceDown:
            other = self._directory.service(self._name, key, avoid=(address,))
            if other == address:
                raise
        return await self._call_at(other, method, request)

    async def _call_at(
        self, address: str, method: Callable[[StubT], Method[RequestT, ResponseT]], request: RequestT
    ) -> ResponseT:
        stub = self._channels.stub(self._stub, address)
        return await self._channels.call(method(stub), request, CALL_S_MAX, self._name)


class Lobby(Peer["lobby_pb2_grpc.LobbyServiceAsyncStub"]):
    """Tables."""

    def __init__(self, channels: Channels, directory: Directory) -> None:
        super().__init__("lobby", lobby_pb2_grpc.LobbyServiceStub, channels, directory)

    async def table(self, match: MatchId, invite: str = "") -> lobby_pb2.GetTableResponse:
        """Raises NoSuchMatch."""
        return await self.call(
            lambda lobby: lobby.GetTable, lobby_pb2.GetTableRequest(match=match, invite=invite)
        )


class Projection(Peer["projection_pb2_grpc.ProjectionServiceAsyncStub"]):
    """Lists over many matches."""

    def __init__(self, channels: Channels, directory: Directory) -> None:
        super().__init__("projection", projection_pb2_grpc.ProjectionServiceStub, channels, directory)


def _key(request: Any) -> str:
    return getattr(request, "match", "") or getattr(request, "player", "")
