"""The projection's answers over gRPC: questions in protos, summaries out."""

from typing import Any

import grpc
import msgspec
from waystation.projection.v1 import projection_pb2 as pb
from waystation.projection.v1.projection_pb2_grpc import ProjectionServiceServicer

from services.core.errors import BadRequest, HistoryCorrupt, NoSuchMatch
from services.core.ids import MatchId
from services.kit.store import EventStore
from services.projection.follow import Follower
from services.projection.lists import ANY, PUBLIC, ListName, own, shown
from services.projection.models import ReadModels
from services.projection.rebuild import rebuild
from services.projection.sources import Sources
from services.projection.summary import Status, Summary
from services.projection.waits import Waits

PAGE_SIZE = 20
PAGE_SIZE_MAX = 100

_STATUS: dict[Status, "pb.MatchStatus.ValueType"] = {
    "open": pb.MATCH_STATUS_OPEN,
    "running": pb.MATCH_STATUS_RUNNING,
    "over": pb.MATCH_STATUS_OVER,
    "closed": pb.MATCH_STATUS_CLOSED,
}
_STATUS_NAME: dict["pb.MatchStatus.ValueType", str] = {
    pb.MATCH_STATUS_UNSPECIFIED: ANY,
    **{number: name for name, number in _STATUS.items()},
}


class ProjectionServicer(ProjectionServiceServicer):
    """Every refusal is a DomainError; the server's interceptor puts it on the wire."""

    def __init__(self, store: EventStore, models: ReadModels, sources: Sources, follower: Follower) -> None:
        self._store = store
        self._models = models
        self._sources = sources
        self._follower = follower
        self._waits = Waits()

    async def ListMatches(  # noqa: N802
        self, request: pb.ListMatchesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ListMatchesResponse:
        if not 0 <= request.page_size <= PAGE_SIZE_MAX:
            raise BadRequest("page_size", f"is not from 1 to {PAGE_SIZE_MAX}")
        audience = PUBLIC
        if request.player:
            audience = own(request.player) if request.player == request.reader else shown(request.player)
        status = _STATUS_NAME.get(request.status)
        if status is None:
            raise BadRequest("status", "is none that a match can have")
        name = ListName(request.title or ANY, status, audience)
        page = await self._models.page(str(name), request.page_size or PAGE_SIZE, request.page_token)
        found = [_message(summary) for summary in page.summaries]
        return pb.ListMatchesResponse(matches=found, next_page_token=page.next_token)

    async def GetSummary(  # noqa: N802
        self, request: pb.GetSummaryRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.GetSummaryResponse:
        summary = await self._models.summary(MatchId(request.match))
        if summary is None:
            raise NoSuchMatch(request.match)
        return pb.GetSummaryResponse(summary=_message(summary))

    async def Rebuild(  # noqa: N802
        self, request: pb.RebuildRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.RebuildResponse:
        done = await rebuild(self._store, self._models, self._sources, self._follower, self._waits)
        return pb.RebuildResponse(
            streams=done.streams,
            events=done.events,
            damaged_streams=done.damaged,
            damages=[_damage(error) for error in done.damages],
        )

    async def GetRebuild(  # noqa: N802
        self, request: pb.GetRebuildRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.GetRebuildResponse:
        return pb.GetRebuildResponse(waits_for=self._waits.waits_for)


def _damage(error: HistoryCorrupt) -> pb.Damage:
    return pb.Damage(stream=error.stream, version=error.version, detail=error.detail)


def _message(summary: Summary) -> pb.MatchSummary:
    half = summary.known
    message = pb.MatchSummary(
        match=summary.match,
        title=half.title,
        status=_STATUS[summary.status],
        seats=len(half.players),
        players=half.players,
        private=half.private,
        version=summary.play.cursor.version if summary.play else 0,
        outcome=msgspec.json.encode(summary.play.outcome) if summary.play and summary.play.outcome else b"",
        options=bytes(half.options),
    )
    message.created_at.FromMilliseconds(summary.created_at)
    message.updated_at.FromMilliseconds(summary.updated_at)
    return message
