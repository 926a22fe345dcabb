"""Reading one match: the table before it begins, the view at any version, legal moves, events, the record."""

from typing import Annotated, Any

from litestar import Response, get
from litestar.params import HeaderParameter, QueryParameter
from msgspec import Struct

from gateway.bodies import answered, passed
from gateway.callers import VERSION_SCHEMA, Reader, version_if_any
from gateway.matches import Answered
from gateway.parts import Parts
from gateway.places import Place
from gateway.says import AT_A_MATCH, says
from gateway.tables import Table, shown
from gateway.validators import tag_of, unless_known
from services.core import errors
from services.core.errors import NoSuchVersion, NotStarted
from services.core.ids import MatchId
from services.core.record import Record
from services.core.shown import MatchView, ShownEvent

VersionQuery = Annotated[str, QueryParameter(description="Now without it.", schema_extra=VERSION_SCHEMA)]
FirstVersion = Annotated[int, QueryParameter(name="from", ge=0, le=1 << 53, description="First version.")]
LastVersion = Annotated[
    int, QueryParameter(name="to", ge=0, le=1 << 53, description="Last version; 0: the end.")
]
PageSize = Annotated[int, QueryParameter(ge=0, le=1000, description="At most this many; 0 for the default.")]
PageToken = Annotated[str, QueryParameter(max_length=256, description="`next` of the page before.")]
IfNoneMatch = Annotated[
    str | None,
    HeaderParameter(name="If-None-Match", description="ETags of answers that you have: 304 if one is it."),
]

_NEVER_CHANGES = "private, max-age=31536000, immutable"


class LegalMove(Struct, frozen=True):
    """A move and its short text."""

    move: Any
    notation: str


class LegalMoves(Struct, frozen=True):
    """What `seat` may do at `version`. `total`: over all pages. `next`: token of the next page."""

    version: int
    seat: int | None
    choices: list[LegalMove]
    total: int
    next: str | None


class EventPage(Struct, frozen=True):
    """Events in order of version. `next`: the version to go on from."""

    match: str
    events: list[ShownEvent]
    next: int | None


@get(
    "/v1/matches/{match:str}",
    tags=["matches"],
    opt=says(
        Table,
        MatchView,
        refuses=(*AT_A_MATCH, errors.NoSuchVersion),
        headers=("ETag", "Cache-Control"),
    ),
)
async def get_match(
    match: str, reader: Reader, parts: Parts, version: VersionQuery = "", if_none_match: IfNoneMatch = None
) -> Response[bytes]:
    """The match as you may see it, now or at a version; its table before it begins.

    `status` tells which: `open`, `starting` and `closed` are a table's, `running` and `over` a match's.
    """
    id_, asked = MatchId(match), version_if_any(version, "version")
    if isinstance(await parts.places.find(id_), Place):
        try:
            eyes = await parts.matches.eyes(id_, reader)
            return _view(await parts.matches.view(id_, eyes, asked), asked, if_none_match)
        except NotStarted:
            pass  # its table is sealed, and its first event not yet stored
    table = await parts.places.table_for(id_, reader)
    if asked is not None:
        raise NoSuchVersion(asked, 0)
    return answered(shown(table, reader.player), headers={"Cache-Control": "private, no-cache", **_VARY})


@get(
    "/v1/matches/{match:str}/legal-moves",
    tags=["matches"],
    opt=says(LegalMoves, refuses=(*AT_A_MATCH, errors.VersionConflict)),
)
async def list_legal_moves(
    match: str, reader: Reader, parts: Parts, page_size: PageSize = 0, page_token: PageToken = ""
) -> Response[bytes]:
    """What your seat may do now. A token of a page is refused once the match has moved on."""
    eyes = await parts.matches.eyes(MatchId(match), reader)
    page = await parts.matches.legal_moves(MatchId(match), eyes, page_size, page_token)
    return passed(page, headers=_UNSTORED)


@get("/v1/matches/{match:str}/events", tags=["matches"], opt=says(EventPage, refuses=AT_A_MATCH))
async def list_events(
    match: str, reader: Reader, parts: Parts, first: FirstVersion = 0, last: LastVersion = 0
) -> Response[bytes]:
    """What has happened, as you may know it; luck and seed once the match is over."""
    eyes = await parts.matches.eyes(MatchId(match), reader)
    return passed(await parts.matches.events(MatchId(match), eyes, first, last), headers=_UNSTORED)


@get(
    "/v1/matches/{match:str}/record",
    tags=["matches"],
    opt=says(
        Record,
        refuses=(*AT_A_MATCH, errors.NotOver),
        headers=("ETag", "Cache-Control"),
    ),
)
async def get_record(
    match: str, reader: Reader, parts: Parts, if_none_match: IfNoneMatch = None
) -> Response[bytes]:
    """The portable record of a finished match; `waystation verify` proves it without any server."""
    eyes = await parts.matches.eyes(MatchId(match), reader)
    record = await parts.matches.record(MatchId(match), eyes)
    headers = {
        "Cache-Control": _NEVER_CHANGES,
        "Content-Disposition": f'attachment; filename="{match}.json"',
        **_VARY,
    }
    return unless_known(record, tag_of(record), if_none_match, headers)


_VARY = {"Vary": "Authorization, Invite-Code"}
_UNSTORED = {"Cache-Control": "private, no-cache", **_VARY}


def _view(view: Answered, version: int | None, if_none_match: str | None) -> Response[bytes]:
    headers = {"Cache-Control": "private, no-cache" if version is None else _NEVER_CHANGES, **_VARY}
    return unless_known(view.body, tag_of(view.body, view.version), if_none_match, headers)
