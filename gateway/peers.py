"""The services behind the gateway that are called one request at a time: lobby and projection."""

from collections.abc import Callable
from typing import Generic, TypeVar

import grpc
from waystation.lobby.v1 import lobby_pb2, lobby_pb2_grpc
from waystation.projection.v1 import projection_pb2_grpc

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

    @property
    def stub(self) -> StubT:
        """Raises ServiceDown when nobody has announced the service."""
        return self._channels.stub(self._stub, self._directory.service(self._name))

    async def call(self, method: Method[RequestT, ResponseT], request: RequestT) -> ResponseT:
        """Raises what the service refuses with, ServiceDown, or Deadline."""
        return await self._channels.call(method, request, CALL_S_MAX, self._name)


class Lobby(Peer["lobby_pb2_grpc.LobbyServiceAsyncStub"]):
    """Tables."""

    def __init__(self, channels: Channels, directory: Directory) -> None:
        super().__init__("lobby", lobby_pb2_grpc.LobbyServiceStub, channels, directory)

    async def table(self, match: MatchId, invite: str = "") -> lobby_pb2.GetTableResponse:
        """Raises NoSuchMatch."""
        return await self.call(self.stub.GetTable, lobby_pb2.GetTableRequest(match=match, invite=invite))


class Projection(Peer["projection_pb2_grpc.ProjectionServiceAsyncStub"]):
    """Lists over many matches."""

    def __init__(self, channels: Channels, directory: Directory) -> None:
        super().__init__("projection", projection_pb2_grpc.ProjectionServiceStub, channels, directory)
