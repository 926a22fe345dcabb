"""The outermost layer: how often an address may ask, and how long answers take."""

import time

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from prometheus_client import Histogram

from gateway.addresses import Addresses
from gateway.limits import Buckets
from gateway.problems import MEDIA_TYPE, Problem, problem_of
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
        address = self._address(scope)
        scope.setdefault("state", {})["address"] = address
        if scope["type"] == ScopeType.HTTP:
            await self._http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        address = scope["state"]["address"]
        began = time.perf_counter()
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if scope["path"] not in _UNLIMITED:
                self._rate.take(address)
            await self._app(scope, receive, watched)
        except TooManyRequests as error:
            await _refuse(problem_of(error, scope["path"]), watched)
        finally:
            route = scope.get("path_template", "unmatched")
            took_s = time.perf_counter() - began
            HTTP_DURATION.labels(scope["method"], route, status).observe(took_s)

    def _address(self, scope: Scope) -> str:
        client = scope.get("client")
        forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        return self._addresses.client(client[0] if client else None, forwarded.decode("latin-1"))


async def _refuse(problem: Problem, send: Send) -> None:
    body = msgspec.json.encode(problem.members)
    headers = {**problem.headers, "Content-Type": MEDIA_TYPE, "Content-Length": str(len(body))}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body, "more_body": False})
