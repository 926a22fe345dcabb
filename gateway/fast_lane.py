"""Moves past Litestar, whose layers cost more than all else that the gateway does for a move.

What a move means is said in one place only: the route's handler in `gateway.routes.moves` answers here
too. Requests that are no move take the way of all others.
"""

import re

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from gateway.answers import answer, refuse
from gateway.limits import BODY_BYTES_MAX
from gateway.parts import Parts
from gateway.problems import problem_of, problem_of_fault
from gateway.queries import require_no_query
from gateway.requests import sender
from gateway.routes.moves import submit_move
from gateway.says import JSON
from services.core.errors import BadRequest, DomainError, TooLarge

_PATH = re.compile("/v1/matches/([^/]+)/moves")
_TEMPLATE = "/v1/matches/{match}/moves"

Headers = dict[bytes, str]


class FastLane:
    """An ASGI application around `app`."""

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and scope["method"] == "POST":
            found = _PATH.fullmatch(scope["path"])
            if found is not None:
                scope["path_template"] = _TEMPLATE
                scope["path_params"] = {"match": found[1]}
                await self._move(found[1], scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _move(self, match: str, scope: HTTPScope, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        try:
            if scope["query_string"]:
                require_no_query(scope["query_string"])
            who = sender(
                scope,
                self._parts,
                headers.get(b"authorization"),
                headers.get(b"idempotency-key"),
                headers.get(b"traceparent"),
            )
            body = await _body(headers, receive)
            made = await submit_move.fn(match, who, self._parts, body)
        except DomainError as error:
            await refuse(scope, send, problem_of(error, scope["path"], b"if-match" in headers))
        except Exception as fault:  # the outermost frame of a request
            await refuse(scope, send, problem_of_fault(fault, scope["path"]))
        else:
            await answer(scope, send, made.status_code, {**made.headers, "Content-Type": JSON}, made.content)


async def _body(headers: Headers, receive: Receive) -> bytes:
    """Raises TooLarge, and BadRequest when the client hangs up in the middle."""
    if int(headers.get(b"content-length", "0")) > BODY_BYTES_MAX:
        raise TooLarge("the body", BODY_BYTES_MAX)
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise BadRequest("body", "did not come whole")
        body += message["body"]
        if len(body) > BODY_BYTES_MAX:
            raise TooLarge("the body", BODY_BYTES_MAX)
        if not message["more_body"]:
            return body
