"""HEAD wherever there is GET: the same work, status and headers, and no body. And `Allow` says so.

Said once for all routes. Of a stream of events the head is all that is made: whoever asks for it is taken
for a reader who leaves at once.
"""

from typing import cast

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

_NO_METHOD = b"websocket"  # which Litestar counts among them


class Heads:
    """An ASGI application around `app`, which knows nothing of HEAD."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] == "GET":
            await self._app(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._head(scope, receive, send)
        else:
            await self._app(scope, receive, _allowing(send))

    async def _head(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        async def head_alone(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # The server holds the answer for complete, and tells a stream that its reader has gone.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        asked = cast(HTTPScope, {**scope, "method": "GET"})
        try:
            await self._app(asked, receive, head_alone)
        finally:
            if "path_template" in asked:  # for the logs and metrics of the layers outside
                scope["path_template"], scope["path_params"] = asked["path_template"], asked["path_params"]


def _allowing(send: Send) -> Send:
    """`send` for a method that is neither: its answer may say which methods there are."""

    async def allowing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                (name, _with_head(value) if name.lower() == b"allow" else value)
                for name, value in message["headers"]
            ]
        await send(message)

    return allowing


def _with_head(methods: bytes) -> bytes:
    """`methods` in order of the alphabet, HEAD among them if GET is."""
    named = {name.strip() for name in methods.split(b",")} - {_NO_METHOD}
    return b", ".join(sorted(named | {b"HEAD"} if b"GET" in named else named))
