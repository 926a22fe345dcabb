"""WebSockets: follow many matches over one, or come for a single match."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from litestar import WebSocket, websocket

from gateway.callers import traceparent_of, version_if_any
from gateway.live.frames import FollowFrame, problem
from gateway.live.session import LATER, UNREADABLE, Opening, Session, fitting
from gateway.parts import Parts
from gateway.problems import problem_of
from gateway.queries import Known, require_known
from gateway.websocket import DROP, HEAR, SAY
from services.core.errors import BadRequest, DomainError, Overloaded

Socket = WebSocket[Any, Any, Any]
_AFTER = Known({"after"})


@websocket("/v1/live")
async def converse(socket: Socket, parts: Parts) -> None:
    """Frames both ways; see the schemas ClientFrame and ServerFrame."""
    try:
        require_known(socket.query_params.items(), Known())
    except BadRequest as error:
        await _refuse(socket, error)
    else:
        await _run(socket, parts, None)


@websocket("/v1/matches/{match:str}/live")
async def converse_on_match(socket: Socket, parts: Parts, match: str) -> None:
    """The same, and follows the match at once. `after`: first the events after that version."""
    try:
        require_known(socket.query_params.items(), _AFTER)
        after = version_if_any(socket.query_params.get("after"), "after")
    except BadRequest as error:
        await _refuse(socket, error)
    else:
        invite = socket.headers.get("invite-code", "")[:128]
        await _run(socket, parts, FollowFrame(match=match, after=after, invite=invite))


async def _run(socket: Socket, parts: Parts, first: FollowFrame | None) -> None:
    headers = socket.headers
    opening = Opening(
        address=socket.scope["state"]["address"],
        authorization=headers.get("authorization"),
        traceparent=traceparent_of(headers.get("traceparent")),
        first=first,
    )
    await socket.accept()
    carried = Carried(socket)
    session = Session(parts.lent, carried, opening)
    try:
        with parts.lent.sockets.one(session, opening.address):
            await session.run()
    except Overloaded as error:
        await _turn_away(carried, error, LATER)


async def _refuse(socket: Socket, error: BadRequest) -> None:
    await socket.accept()  # of a handshake that is refused, browsers show nothing
    await _turn_away(Carried(socket), error, UNREADABLE)


async def _turn_away(carried: "Carried", error: DomainError, code: int) -> None:
    await carried.send([problem(problem_of(error, "")).body])
    await carried.close(code, fitting(str(error)))


class Carried:
    """An ASGI WebSocket as the transport of a session."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        extensions: Any = socket.scope["extensions"]
        self._hear: Callable[[], Awaitable[dict[str, Any]]] = extensions[HEAR]["now"]
        self._drop: Callable[[int, str], None] = extensions[DROP]["now"]
        self.send: Callable[[Sequence[bytes]], Awaitable[None]] = extensions[SAY]["now"]

    async def receive(self) -> bytes | None:
        message = await self._hear()
        return message["bytes"] if message["type"] == "websocket.receive" else None

    async def close(self, code: int, reason: str) -> None:
        await self._socket.send({"type": "websocket.close", "code": code, "reason": reason})

    def drop(self, code: int, reason: str) -> None:
        self._drop(code, reason)
