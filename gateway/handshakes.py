"""Handshakes that are turned down: each gets an answer as any other request does."""

from http import HTTPStatus

from litestar.enums import ScopeType
from litestar.exceptions import HTTPException
from litestar.types import Message, Scope, Send

from gateway.answers import refuse
from gateway.problems import Problem, problem_of_fault, problem_of_status

# Litestar's words for a path that is not there, and for one that is there over HTTP only.
_NOWHERE = {HTTPStatus.NOT_FOUND.phrase, HTTPStatus.BAD_REQUEST.phrase}


def answering(scope: Scope, send: Send) -> Send:
    """`send` for a handshake: one that is turned down is told why."""
    is_open = False

    async def answering(message: Message) -> None:
        nonlocal is_open
        is_open = is_open or message["type"] == "websocket.accept"
        if is_open or message["type"] != "websocket.close":
            await send(message)
        else:
            await refuse(scope, send, _problem(scope, message["reason"]))

    return answering


def _problem(scope: Scope, said: str | None) -> Problem:
    """Litestar closes with 4500 whatever it was; it differs in words, and in whether a route was found."""
    if "route_handler" in scope:
        fault = HTTPStatus.INTERNAL_SERVER_ERROR
        return problem_of_status(fault, fault.phrase, scope["path"])
    if said in _NOWHERE:
        return problem_of_status(HTTPStatus.NOT_FOUND, HTTPStatus.NOT_FOUND.phrase, scope["path"])
    return problem_of_status(HTTPStatus.BAD_REQUEST, said or "", scope["path"])


async def log_fault(error: Exception, scope: Scope) -> None:
    """Logs what went wrong on a socket: Litestar says it to nobody."""
    # A peer that has gone is an OSError.
    if scope["type"] == ScopeType.WEBSOCKET and not isinstance(error, HTTPException | OSError):
        problem_of_fault(error, scope["path"])
