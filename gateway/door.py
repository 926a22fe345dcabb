"""The outermost layer: how often an address may ask, and how long answers take."""

import time
from typing import Any

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from prometheus_client import Histogram

from gateway.addresses import Addresses
from gateway.limits import Buckets
from gateway.problems import MEDIA_TYPE, problem_of
from services.core.errors import TooManyRequests

HTTP_DURATION = Histogram(
    "http_duration_seconds",
    "How long an HTTP request took, by its route and status",
    ["method", "route", "status"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
# Probes and scrapes come from inside the cluster, all from one address.
_UNLIMITED = {"/healthz", "/readyz", "/metrics"}


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
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._let_in(scope, receive, watched)
        finally:
            route = scope.get("path_template", "unmatched")
            took_s = time.perf_counter() - began
            HTTP_DURATION.labels(scope["method"], route, status).observe(took_s)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request or a handshake, unless its address has asked too often."""
        try:
            if scope["path"] not in _UNLIMITED:
                self._rate.take(scope["state"]["address"])
        except TooManyRequests as error:
            await _refuse(error, scope, send)
        else:
            await self._app(scope, receive, send)

    def _address(self, scope: Scope) -> str:
        client = scope.get("client")
        forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        return self._addresses.client(client[0] if client else None, forwarded.decode("latin-1"))


async def _refuse(error: TooManyRequests, scope: Scope, send: Send) -> None:
    problem = problem_of(error, scope["path"])
    body = msgspec.json.encode(problem.members)
    headers = {**problem.headers, "Content-Type": MEDIA_TYPE, "Content-Length": str(len(body))}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    # A handshake is refused by an ordinary answer, of which ASGI has types of its own.
    kind = "http.response" if scope["type"] == ScopeType.HTTP else "websocket.http.response"
    answer: list[Any] = [
        {"type": f"{kind}.start", "status": problem.status, "headers": raw},
        {"type": f"{kind}.body", "body": body, "more_body": False},
    ]
    for message in answer:
        await send(message)
