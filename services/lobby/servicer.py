# ruff: noqa: N802 - the methods are named by the proto
"""LobbyService: each method translates, asks, and translates back. Refusals are raised."""

from typing import Any

from waystation.lobby.v1 import lobby_pb2 as pb
from waystation.lobby.v1.lobby_pb2_grpc import LobbyServiceServicer

from services.core.ids import PlayerId
from services.core.tables import Table
from services.lobby.commands import LeaveSeat
from services.lobby.desk import Carried, Desk
from services.lobby.ids import Ids, is_invited
from services.lobby.opening import Opening
from services.lobby.published import Published
from services.lobby.quick import QuickParts, quick_match
from services.lobby.starter import Starter
from services.lobby.wire import creation_of, issued_of, match_of, seat_of, shown, wish_of


class Servicer(LobbyServiceServicer):
    """One lobby's service."""

    def __init__(
        self,
        desk: Desk,
        opening: Opening,
        starter: Starter,
        ids: Ids,
        quick: QuickParts,
        published: Published,
    ) -> None:
        self._desk = desk
        self._opening = opening
        self._starter = starter
        self._ids = ids
        self._quick = quick
        self._published = published

    async def CreateTable(
        self, request: pb.CreateTableRequest, context: Any = None
    ) -> pb.CreateTableResponse:
        command, issued = creation_of(request), issued_of(request)
        match = self._ids.table(PlayerId(request.player), "create", issued.request_id)
        table = await self._opening.open(match, command, issued)
        table = await self._starter.settle(table)
        return pb.CreateTableResponse(
            table=shown(table), invite=self._ids.invite(match) if command.private else ""
        )

    async def GetTable(self, request: pb.GetTableRequest, context: Any = None) -> pb.GetTableResponse:
        table = await self._desk.find(match_of(request.match))
        return pb.GetTableResponse(
            table=shown(table), invited=is_invited(request.invite, table.created.invite)
        )

    async def TakeSeat(self, request: pb.TakeSeatRequest, context: Any = None) -> pb.TakeSeatResponse:
        carried = await self._desk.carry_out(
            match_of(request.match), seat_of(request), issued_of(request), invite=request.invite
        )
        table = await self._starter.settle(carried.table)
        return pb.TakeSeatResponse(table=shown(table), seat=_seat(table, request.player, carried))

    async def LeaveSeat(self, request: pb.LeaveSeatRequest, context: Any = None) -> pb.LeaveSeatResponse:
        carried = await self._desk.carry_out(match_of(request.match), LeaveSeat(), issued_of(request))
        return pb.LeaveSeatResponse(table=shown(carried.table))

    async def StartTable(self, request: pb.StartTableRequest, context: Any = None) -> pb.StartTableResponse:
        table = await self._starter.begin(match_of(request.match), issued_of(request))
        return pb.StartTableResponse(table=shown(await self._starter.settle(table)))

    async def QuickMatch(self, request: pb.QuickMatchRequest, context: Any = None) -> pb.QuickMatchResponse:
        carried = await quick_match(self._quick, wish_of(request), issued_of(request))
        table = await self._starter.settle(carried.table)
        return pb.QuickMatchResponse(table=shown(table), seat=_seat(table, request.player, carried))

    async def ListPublishedEvents(
        self, request: pb.ListPublishedEventsRequest, context: Any = None
    ) -> pb.ListPublishedEventsResponse:
        return pb.ListPublishedEventsResponse(
            events=await self._published.after(match_of(request.match), request.after)
        )

    async def BatchListPublishedEvents(
        self, request: pb.BatchListPublishedEventsRequest, context: Any = None
    ) -> pb.BatchListPublishedEventsResponse:
        told = await self._published.batch([match_of(match) for match in request.matches])
        return pb.BatchListPublishedEventsResponse(
            events=[event for events in told for event in events], tables=len(told)
        )


def _seat(table: Table, player: str, carried: Carried) -> int:
    """Where the player sits now; for one who has left since, the seat that the request got."""
    now = table.seat_of(PlayerId(player))
    seat = carried.seat if now is None else now
    assert seat is not None, "these requests get a seat, or are refused"
    return seat
