"""The application: routes, what they are given, and how every failure becomes a problem."""

from litestar import Litestar, Response
from litestar.exceptions import HTTPException, InternalServerException, ValidationException
from litestar.openapi import OpenAPIConfig
from litestar.types import ASGIApp

from gateway.door import Door
from gateway.fast_lane import FastLane
from gateway.handshakes import log_fault
from gateway.heads import Heads
from gateway.limits import BODY_BYTES_MAX
from gateway.parts import Parts
from gateway.problems import MEDIA_TYPE, Problem, problem_of, problem_of_fault, problem_of_status, written
from gateway.queries import require_known_query
from gateway.requests import AnyRequest, dependencies, read_no_body
from gateway.routes import docs, health, lists, live, matches, moves, players, sse, tables, titles, upgrade
from services.core.errors import BadRequest, DomainError

HANDLERS = [
    lists.matches_options,  # before the others of its path, each of which would bring one for itself alone
    players.create_player,
    players.renew_token,
    titles.list_titles,
    titles.get_title,
    tables.create_table,
    tables.take_seat,
    tables.leave_seat,
    tables.start_table,
    tables.quick_match,
    matches.get_match,
    matches.list_legal_moves,
    matches.list_events,
    matches.get_record,
    moves.submit_move,
    moves.resign,
    moves.offer_draw,
    moves.answer_draw,
    moves.request_takeback,
    moves.answer_takeback,
    moves.abort,
    lists.list_matches,
    lists.list_player_matches,
    live.converse,
    live.converse_on_match,
    upgrade.require_upgrade,
    sse.stream_match,
    health.alive,
    health.ready,
    health.metrics,
    docs.front_door,
    docs.openapi,
    docs.docs,
    docs.list_errors,
    docs.describe_error,
]


# How Litestar puts it when a caller leaves in the middle of a body.
_HUNG_UP = "client disconnected prematurely"


def build(parts: Parts) -> ASGIApp:
    """The ASGI application around opened parts."""
    app = Litestar(
        route_handlers=HANDLERS,
        dependencies=dependencies(parts),
        before_request=_check,
        exception_handlers={
            DomainError: _refused,
            HTTPException: _refused_by_http,
            Exception: _failed,
        },
        after_exception=[log_fault],
        request_max_body_size=BODY_BYTES_MAX,
        openapi_config=OpenAPIConfig(title="Waystation", version="1", render_plugins=[]),
        logging_config=None,
    )
    return Door(FastLane(Heads(app), parts), parts.addresses, parts.address_rate)


async def _check(request: AnyRequest) -> None:
    """What holds for all operations, before anything is carried out."""
    require_known_query(request)
    await read_no_body(request)


def _refused(request: AnyRequest, error: DomainError) -> Response[bytes]:
    return _written(request, problem_of(error, request.url.path, "if-match" in request.headers))


def _refused_by_http(request: AnyRequest, error: HTTPException) -> Response[bytes]:
    path = request.url.path
    if isinstance(error, ValidationException):
        return _written(request, problem_of(_bad_parameter(error), path))
    if isinstance(error, InternalServerException) and error.detail == _HUNG_UP:
        return _written(request, problem_of(BadRequest("body", "did not come whole"), path))
    if error.status_code >= 500:
        return _written(request, problem_of_fault(error, path))
    answer = _written(request, problem_of_status(error.status_code, error.detail, path))
    answer.headers.update(error.headers or {})
    return answer


def _failed(request: AnyRequest, fault: Exception) -> Response[bytes]:
    return _written(request, problem_of_fault(fault, request.url.path))


def _written(request: AnyRequest, problem: Problem) -> Response[bytes]:
    return Response(
        written(problem, request.scope.setdefault("state", {})),
        status_code=problem.status,
        headers=problem.headers,
        media_type=MEDIA_TYPE,
    )


def _bad_parameter(error: ValidationException) -> BadRequest:
    """What Litestar found wrong with a parameter, in our words."""
    found = error.extra[0] if isinstance(error.extra, list) and error.extra else {}
    name = str(found.get("key", "request"))
    return BadRequest(_QUERY_NAMES.get(name, name), str(found.get("message", error.detail)))


# Parameters whose name on the wire is no name in Python, or says too little there.
_QUERY_NAMES = {"first": "from", "last": "to", "except_": "except"}
