"""From a request's headers to who reads and who sends: the dependencies that routes name as parameters."""

from typing import Annotated, Any

from litestar import Request
from litestar.di import Provide
from litestar.handlers import BaseRouteHandler
from litestar.params import HeaderParameter
from litestar.types import Scope

from gateway.bodies import require_nothing
from gateway.callers import (
    OPERATOR,
    Guarded,
    Reader,
    Sender,
    request_id_of,
    traceparent_of,
)
from gateway.parts import Parts
from gateway.validators import IF_MATCH_PATTERN, version_in

AnyRequest = Request[Any, Any, Any]
Authorization = Annotated[
    str | None,
    HeaderParameter(name="Authorization", description="`Bearer <token>`", include_in_schema=False),
]
InviteCode = Annotated[
    str | None,
    HeaderParameter(name="Invite-Code", max_length=128, description="The code of a private match."),
]
IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        description="The caller's id of this command: the same one again is answered, not repeated. "
        "At most 128 visible ASCII characters; a random one if there is none.",
        schema_extra={"pattern": r"^[!-~]{0,128}$"},
    ),
]
IfMatch = Annotated[
    str | None,
    HeaderParameter(
        name="If-Match",
        description="Refuse unless the match is at this version, as in its ETag.",
        schema_extra={"pattern": IF_MATCH_PATTERN},
    ),
]
_SAFE = {"GET", "HEAD", "OPTIONS"}  # methods that change nothing
Traceparent = Annotated[str | None, HeaderParameter(name="traceparent", include_in_schema=False)]


def reader(
    scope: Scope, parts: Parts, authorization: Authorization = None, invite_code: InviteCode = None
) -> Reader:
    """Who asks. Raises TokenInvalid for a bad token; none at all is a spectator's. Raises TooManyRequests."""
    holder = parts.identity.bearer_if_any(authorization)
    invite, address = invite_code or "", scope["state"]["address"]
    if holder is None:
        return Reader(None, invite, address)
    scope["state"]["player"] = holder.player  # for the log
    parts.player_rate.take(holder.player)
    return Reader(holder.player, invite, address, holder.until)


def sender(
    scope: Scope,
    parts: Parts,
    authorization: Authorization = None,
    idempotency_key: IdempotencyKey = None,
    traceparent: Traceparent = None,
) -> Sender:
    """The player who commands. Raises TokenInvalid, TooManyRequests, BadRequest."""
    player = parts.identity.player(authorization)
    scope["state"]["player"] = player  # for the log
    parts.player_rate.take(player)
    request_id = request_id_of(idempotency_key)
    # A caller that sent none learns it from the problem, should the outcome be unknown.
    scope["state"]["request_id"] = request_id
    return Sender(player, request_id, traceparent_of(traceparent))


def operator(
    scope: Scope,
    parts: Parts,
    authorization: Authorization = None,
    idempotency_key: IdempotencyKey = None,
    traceparent: Traceparent = None,
) -> Sender:
    """The operator who commands. Raises TokenInvalid, NotAllowed, TooManyRequests, BadRequest."""
    with parts.guesses.one(scope["state"]["address"]):
        parts.identity.require_operator(authorization)
    return Sender(OPERATOR, request_id_of(idempotency_key), traceparent_of(traceparent))


def guarded(sender: Sender, if_match: IfMatch = None) -> Guarded:
    """Raises BadRequest for an If-Match that is neither a version nor `*`."""
    tag = (if_match or "*").strip()
    if tag == "*":
        return Guarded(sender, None)
    return Guarded(sender, version_in(tag))


def dependencies(parts: Parts) -> dict[str, Provide]:
    """All of them, by the name that a route's parameter has.

    Each needs the one before: Litestar would start a group of tasks for two that could run side by side.
    """
    return {
        "parts": Provide(lambda: parts, use_cache=True, sync_to_thread=False),
        "reader": Provide(reader, sync_to_thread=False),
        "sender": Provide(sender, sync_to_thread=False),
        "operator": Provide(operator, sync_to_thread=False),
        "guarded": Provide(guarded, sync_to_thread=False),
    }


async def read_no_body(request: AnyRequest) -> None:
    """Reads the body of a command that has none, before it is carried out: it must have come, and be empty.

    Raises BadRequest, and what Litestar raises for bodies that are too large or cut short.
    """
    if request.method not in _SAFE and not _reads_body(request.route_handler):
        require_nothing(await request.body())


def _reads_body(handler: BaseRouteHandler) -> bool:
    return not handler.parsed_fn_signature.parameters.keys().isdisjoint(("body", "data"))
