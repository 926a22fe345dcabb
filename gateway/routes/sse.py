"""A match as a stream of server-sent events."""

from collections.abc import AsyncIterator
from typing import Annotated

from litestar import get
from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

from gateway.callers import VERSION_SCHEMA, VERSION_TEXT, Reader, version_if_any
from gateway.live.listening import Listening
from gateway.parts import Parts
from gateway.says import AT_A_MATCH, says
from services.core import errors
from services.core.ids import MatchId

LastEventId = Annotated[
    str | None,
    HeaderParameter(
        name="Last-Event-ID",
        description="The version you have: begin after it.",
        schema_extra={"pattern": f"^({VERSION_TEXT})?$"},
    ),
]
After = Annotated[
    str, QueryParameter(description="The same, for the first time.", schema_extra=VERSION_SCHEMA)
]
_EVENT = {
    "type": "object",
    "description": "An event of the stream. `data`: a frame, as JSON. `id`: the version it brings you to.",
    "properties": {name: {"type": "string"} for name in ("event", "data", "id", "retry")},
}


@get(
    "/v1/matches/{match:str}/live.sse",
    tags=["live"],
    opt=says(
        _EVENT,
        refuses=(*AT_A_MATCH, errors.TokenInvalid),
        media_type="text/event-stream",
    ),
)
async def stream_match(
    match: str, reader: Reader, parts: Parts, after: After = "", last_event_id: LastEventId = None
) -> Stream:
    """Views and events as they happen; the id of an event is the version it brings you to."""
    listening = Listening(parts.lent.sight, MatchId(match), reader)
    # A browser that comes back sends the header, to the same URL as the first time.
    known = version_if_any(last_event_id, "Last-Event-ID")
    begin = version_if_any(after, "after") if known is None else known
    events = listening.events(parts.lent.sockets, begin)
    # Up to the first text a refusal is still a problem with a status of its own.
    first = await anext(events)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Stream(_joined(first, events), media_type="text/event-stream", headers=headers)


async def _joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for text in rest:
        yield text
