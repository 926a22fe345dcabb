"""Lists over many matches, from the projection: they may lag a moment behind the matches themselves."""

from typing import Annotated, Literal

import msgspec
from litestar import Response, get, route
from litestar.params import QueryParameter
from msgspec import Raw, Struct
from waystation.projection.v1 import projection_pb2

from gateway.bodies import answered
from gateway.callers import Reader
from gateway.parts import Parts
from gateway.says import says
from gateway.tables import TableSeat
from services.core import errors
from services.core.title import Outcome

Status = Literal["open", "running", "over", "closed"]
TitleQuery = Annotated[str, QueryParameter(max_length=64, description="Only this title.")]
PlayerQuery = Annotated[str, QueryParameter(max_length=64, description="Only with this player.")]
StatusQuery = Annotated[Status | Literal["any"], QueryParameter(description="Only with this status.")]
PageSize = Annotated[int, QueryParameter(ge=0, le=100, description="At most this many; 0 for 20.")]
PageToken = Annotated[str, QueryParameter(max_length=256, description="`next` of the page before.")]

_STATUS: dict[projection_pb2.MatchStatus.ValueType, Status] = {
    projection_pb2.MATCH_STATUS_OPEN: "open",
    projection_pb2.MATCH_STATUS_RUNNING: "running",
    projection_pb2.MATCH_STATUS_OVER: "over",
    projection_pb2.MATCH_STATUS_CLOSED: "closed",
}
_BY_STATUS = {"any": projection_pb2.MATCH_STATUS_UNSPECIFIED} | {
    status: number for number, status in _STATUS.items()
}
_REFUSES = (errors.TokenInvalid, errors.ServiceDown, errors.Deadline, errors.StoreUnavailable)


class ListedMatch(Struct, frozen=True, kw_only=True):
    """A table or match. `version`: 0 before it begins. Times are UTC ms."""

    match: str
    title: str
    status: Status
    version: int
    seats: tuple[TableSeat, ...]
    private: bool
    options: Raw
    outcome: Outcome | None
    created_at: int
    updated_at: int


class MatchList(Struct, frozen=True):
    """Newest first. `next`: token of the next page, null at the end."""

    matches: list[ListedMatch]
    next: str | None


@route("/v1/matches", http_method=["OPTIONS"], status_code=204, include_in_schema=False)
async def matches_options() -> Response[None]:
    """What Litestar says by itself of every path that one handler serves alone."""
    return Response(None, status_code=204, headers={"Allow": "GET, OPTIONS, POST"})


@get("/v1/matches", tags=["matches"], opt=says(MatchList, refuses=_REFUSES))
async def list_matches(
    reader: Reader,
    parts: Parts,
    title: TitleQuery = "",
    status: StatusQuery = "any",
    player: PlayerQuery = "",
    page_size: PageSize = 0,
    page_token: PageToken = "",
) -> Response[bytes]:
    """Tables and matches, newest first; private ones only for their players."""
    request = projection_pb2.ListMatchesRequest(
        title=title,
        status=_BY_STATUS[status],
        player=player,
        reader=reader.player or "",
        page_size=page_size,
        page_token=page_token,
    )
    return await _page(parts, request)


@get("/v1/players/{player:str}/matches", tags=["players"], opt=says(MatchList, refuses=_REFUSES))
async def list_player_matches(
    player: str,
    reader: Reader,
    parts: Parts,
    status: StatusQuery = "any",
    page_size: PageSize = 0,
    page_token: PageToken = "",
) -> Response[bytes]:
    """A player's matches, newest first."""
    request = projection_pb2.ListMatchesRequest(
        status=_BY_STATUS[status],
        player=player,
        reader=reader.player or "",
        page_size=page_size,
        page_token=page_token,
    )
    return await _page(parts, request)


async def _page(parts: Parts, request: projection_pb2.ListMatchesRequest) -> Response[bytes]:
    page = await parts.projection.call(lambda projection: projection.ListMatches, request)
    listed = MatchList([_listed(summary) for summary in page.matches], page.next_page_token or None)
    return answered(listed, headers={"Cache-Control": "private, no-cache", "Vary": "Authorization"})


def _listed(summary: projection_pb2.MatchSummary) -> ListedMatch:
    return ListedMatch(
        match=summary.match,
        title=summary.title,
        status=_STATUS[summary.status],
        version=summary.version,
        seats=tuple(TableSeat(player or None) for player in summary.players),
        private=summary.private,
        options=Raw(summary.options or b"{}"),
        outcome=msgspec.json.decode(summary.outcome, type=Outcome) if summary.outcome else None,
        created_at=summary.created_at.ToMilliseconds(),
        updated_at=summary.updated_at.ToMilliseconds(),
    )
