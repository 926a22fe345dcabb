"""The outermost layer: how often an address may ask, how long answers take, one log line for each request."""

import asyncio
import time
from http import HTTPStatus
from typing import Any

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from prometheus_client import Histogram

from gateway.addresses import Addresses
from gateway.answers import refuse
from gateway.callers import traceparent_of
from gateway.handshakes import answering
from gateway.limits import Buckets
from gateway.problems import problem_of, problem_of_status
from services.core.errors import ServiceDown, TooManyRequests
from services.kit import request_log, tracing

HTTP_DURATION = Histogram(
    "http_duration_seconds",
    "How long an HTTP request took, by its route and status",
    ["method", "route", "status"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
# Probes and scrapes come from inside the cluster, all from one address.
_UNLIMITED = {"/healthz", "/readyz", "/metrics"}
# The server cancels what outlasts its stop; left alone, it would answer 500 in plain text.
_STOPPING = ServiceDown("gateway", "it stops; repeat the request")
_MATCH_CHARACTERS_MAX = 64  # of what a client claims to be a match


class Door:
    """An ASGI application around `app`; keeps the caller's address as scope["state"]["address"]."""

    def __init__(self, app: ASGIApp, addresses: Addresses, rate: Buckets) -> None:
        self._app = app
        self._addresses = addresses
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["address"] = self._address(scope)
        if scope["type"] == ScopeType.HTTP:
            await self._timed(scope, receive, send)
        else:
            await self._let_in(scope, receive, send)

    async def _timed(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        status, answered = 500, 0.0

        async def watched(message: Message) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status, answered = message["status"], time.perf_counter()
            await send(message)

        with _span(scope) as span:
            try:
                await self._let_in(scope, receive, watched)
            except asyncio.CancelledError:
                if answered:
                    raise
                await refuse(scope, watched, problem_of(_STOPPING, scope["path"]))
            finally:
                ended = time.perf_counter()
                route = scope.get("path_template", "unmatched")
                HTTP_DURATION.labels(scope["method"], route, status).observe(ended - began)
                _trace(span, scope["method"], route, status)
                # A stream of events is answered once it begins, however long it lasts.
                _tell(scope, route, status, (answered or ended) - began)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request or a handshake, unless its address has asked too often.

        A path with a slash too many is none: the router would let it pass for another, which a proxy in front
        may keep from strangers by its name.
        """
        path = scope["path"]
        try:
            if path not in _UNLIMITED:
                self._rate.take(scope["state"]["address"])
        except TooManyRequests as error:
            await refuse(scope, send, problem_of(error, path))
            return
        if "//" in path or (path.endswith("/") and path != "/"):
            await refuse(scope, send, problem_of_status(HTTPStatus.NOT_FOUND, "Not Found", path))
        else:
            await self._app(
                scope, receive, answering(scope, send) if scope["type"] == ScopeType.WEBSOCKET else send
            )

    def _address(self, scope: Scope) -> str:
        client = scope.get("client")
        forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        return self._addresses.client(client[0] if client else None, forwarded.decode("latin-1"))


def _span(scope: HTTPScope) -> tracing.Span:
    """The span of a request; probes and scrapes have none."""
    if not tracing.is_on() or scope["path"] in _UNLIMITED:
        return tracing.NOTHING
    return tracing.span(scope["method"], "server", _traceparent(scope))


def _trace(span: tracing.Span, method: str, route: str, status: int) -> None:
    span.rename(f"{method} {route}")
    span.tell(code=status)
    if status >= 500:
        span.fail(str(status))


def _tell(scope: HTTPScope, route: str, status: int, took_s: float) -> None:
    """The line of an HTTP request; probes and scrapes get one only if they fail."""
    level = request_log.level(status, took_s)
    if level is None or (scope["path"] in _UNLIMITED and status < 400):
        return
    state: dict[str, Any] = scope["state"]
    request_log.tell(
        level,
        "http",
        f"{scope['method']} {route}",
        status,
        took_s,
        reason=state.get("reason", ""),
        match=str(scope.get("path_params", {}).get("match", ""))[:_MATCH_CHARACTERS_MAX],
        player=state.get("player", ""),
        request_id=state.get("request_id", ""),
        trace_id=tracing.trace_id(_traceparent(scope)),
    )


def _traceparent(scope: HTTPScope) -> str:
    """The client's, if it is a W3C trace context."""
    told = next((value for name, value in scope["headers"] if name == b"traceparent"), b"")
    return traceparent_of(told.decode("latin-1"))
