"""What the lobby asks of the titles' workers: whether a table could be, and to start its match."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import Raw
from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1.rules_pb2_grpc import RulesServiceStub

from services.core.errors import Deadline, ServiceDown
from services.core.ids import MatchId
from services.core.tables import Table
from services.kit.channels import Channels, Method
from services.kit.directory import Directory
from services.lobby.decide import Completed

if TYPE_CHECKING:  # the generated module has it in its stub file only
    from waystation.rules.v1.rules_pb2_grpc import RulesServiceAsyncStub

CALL_S_MAX = 2.0

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")


class Titles:
    """Every method may raise NoSuchTitle, TitleDown, ServiceDown and Deadline."""

    def __init__(self, directory: Directory, channels: Channels) -> None:
        self._directory = directory
        self._channels = channels

    async def complete(self, title: str, options: Raw, seats: int, match: MatchId) -> Completed:
        """All that is left open filled in. `match`: any id, to choose a worker by. Raises OptionInvalid."""
        request = pb.CheckOptionsRequest(options=bytes(options), seats=seats)
        checked = await self._ask(title, match, lambda stub: stub.CheckOptions, request)
        return Completed(Raw(checked.options), checked.seats, checked.seats_min)

    async def start(self, table: Table) -> None:
        """Starts the match of a sealed table; harmless when it has started already."""
        created = table.created
        at = Timestamp()
        at.FromMilliseconds(table.at)
        request = pb.StartMatchRequest(
            match=table.id,
            options=bytes(created.options),
            seats=[pb.Seat(player=sitting.player, nonce=sitting.nonce) for sitting in table.sealed],
            private=created.private,
            clock=msgspec.json.encode(created.clock) if created.clock else b"",
            at=at,
        )
        await self._ask(created.title, table.id, lambda stub: stub.StartMatch, request)

    async def _ask(
        self,
        title: str,
        match: MatchId,
        choose: "Callable[[RulesServiceAsyncStub], Method[RequestT, ResponseT]]",
        request: RequestT,
    ) -> ResponseT:
        """Asks the worker for `match`; a second one when that one has just died."""
        await self._directory.look_for(title)
        version = self._directory.newest_common_version(title)
        first = self._directory.pick(title, match, version)
        try:
            return await self._ask_at(first, title, choose, request)
        except (ServiceDown, Deadline):
            second = self._directory.pick(title, match, version, avoid=(first,))
            return await self._ask_at(second, title, choose, request)

    async def _ask_at(
        self,
        address: str,
        title: str,
        choose: "Callable[[RulesServiceAsyncStub], Method[RequestT, ResponseT]]",
        request: RequestT,
    ) -> ResponseT:
        stub = self._channels.stub(RulesServiceStub, address)
        return await self._channels.call(choose(stub), request, CALL_S_MAX, f"rules-{title}")
