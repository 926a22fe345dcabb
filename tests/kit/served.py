"""A real server with one method whose behaviour a test chooses, and a client for it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

from waystation.rules.v1.rules_pb2 import GetTitleRequest, GetTitleResponse
from waystation.rules.v1.rules_pb2_grpc import (
    RulesServiceServicer,
    RulesServiceStub,
    add_RulesServiceServicer_to_server,
)

from services.kit.channels import Channels
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings

RULES = "waystation.rules.v1.RulesService"
Behaviour = Callable[[], Awaitable[bytes]]


class Servicer(RulesServiceServicer):
    """Answers GetTitle with what `behaviour` returns or raises."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour

    async def GetTitle(self, request: GetTitleRequest, context: Any) -> GetTitleResponse:  # noqa: N802
        return GetTitleResponse(description=await self._behaviour())


# The other methods of the service are not served here.
Servicer.__abstractmethods__ = frozenset()


class Client:
    """Calls the one method."""

    def __init__(self, channels: Channels, address: str) -> None:
        self.channels = channels
        self.address = address

    async def ask(self, timeout_s: float = 5.0) -> bytes:
        stub = self.channels.stub(RulesServiceStub, self.address)
        answer = await self.channels.call(stub.GetTitle, GetTitleRequest(), timeout_s, service="rules")
        return answer.description


@asynccontextmanager
async def serving(
    behaviour: Behaviour, unhurried: Collection[str] = ()
) -> AsyncIterator[tuple[RpcServer, Client]]:
    server = RpcServer(ServiceSettings(), "probe", unhurried)
    server.add(add_RulesServiceServicer_to_server, Servicer(behaviour), RULES)
    channels = Channels()
    try:
        port = await server.start()
        yield server, Client(channels, f"127.0.0.1:{port}")
    finally:
        await channels.close()
        await server.stop(0)
