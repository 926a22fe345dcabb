"""Answers sent as plain ASGI messages, where no Litestar response is at hand."""

from collections.abc import Mapping
from typing import Any

from litestar.enums import ScopeType
from litestar.types import Scope, Send

from gateway.problems import MEDIA_TYPE, Problem, written


async def answer(scope: Scope, send: Send, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Sends a whole answer; its length is added to the headers."""
    # A handshake is refused by an ordinary answer, of which ASGI has types of its own.
    kind = "http.response" if scope["type"] == ScopeType.HTTP else "websocket.http.response"
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    raw.append((b"content-length", str(len(body)).encode()))
    messages: tuple[Any, ...] = (
        {"type": f"{kind}.start", "status": status, "headers": raw},
        {"type": f"{kind}.body", "body": body, "more_body": False},
    )
    for message in messages:
        await send(message)


async def refuse(scope: Scope, send: Send, problem: Problem) -> None:
    """Sends a problem."""
    headers = {**problem.headers, "Content-Type": MEDIA_TYPE}
    await answer(scope, send, problem.status, headers, written(problem, scope["state"]))
