"""Refusals as RFC 9457 problems: one shape for every error, from an illegal move to an unknown path."""

from http import HTTPStatus
from typing import Any

import msgspec
import structlog

from gateway.limits import BODY_BYTES_MAX
from services.core.errors import BadRequest, DomainError, TooLarge, VersionConflict
from services.kit.statuses import Unexpected, http_status, retry_after_s

MEDIA_TYPE = "application/problem+json"

# Facts whose names RFC 9457 has taken go by another one; `detail` says what its fact says.
_RENAMED = {"title": "slug", "status": "table_status", "type": "kind", "instance": "where"}
_LEFT_OUT = {"detail"}

_log = structlog.get_logger()


class Problem(msgspec.Struct, frozen=True):
    """A refusal, ready to be sent."""

    status: int
    members: dict[str, Any]
    retry_after_s: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Cache-Control": "no-store"}
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(self.retry_after_s)
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="waystation"'
        return headers


def problem_of(error: DomainError, instance: str, has_precondition: bool = False) -> Problem:
    """`instance`: the path that was asked for. `has_precondition`: the request came with If-Match."""
    status = http_status(error)
    if has_precondition and isinstance(error, VersionConflict):
        status = HTTPStatus.PRECONDITION_FAILED
    facts = {_RENAMED.get(name, name): fact for name, fact in error.facts.items() if name not in _LEFT_OUT}
    return Problem(status, _members(error.reason, status, str(error), instance) | facts, retry_after_s(error))


def problem_of_status(status: int, detail: str, instance: str) -> Problem:
    """What HTTP itself refuses: an unknown path, a method that a path does not have."""
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return problem_of(TooLarge("the body", BODY_BYTES_MAX), instance)
    if status == HTTPStatus.BAD_REQUEST:
        return problem_of(BadRequest("request", detail), instance)
    return Problem(status, _members(HTTPStatus(status).name, status, detail, instance))


def problem_of_fault(fault: Exception, instance: str) -> Problem:
    """A fault of ours: logged here, once; the caller learns nothing about it."""
    _log.error("request_failed", path=instance, exc_info=fault)
    return problem_of(Unexpected(), instance)


def written(problem: Problem, state: dict[str, Any]) -> bytes:
    """The body of an answer. `state` of the request: its id goes in, and its log line gets the reason."""
    state["reason"] = problem.members["reason"]
    request_id = state.get("request_id")
    named = {"request_id": request_id} if request_id else {}
    return msgspec.json.encode(problem.members | named)


def title_of(reason: str) -> str:
    """The reason for people: "MOVE_ILLEGAL" is "Move illegal"."""
    return reason.replace("_", " ").capitalize()


def type_of(reason: str) -> str:
    """The page that describes the reason: "/errors/move-illegal"."""
    return f"/errors/{reason.lower().replace('_', '-')}"


def _members(reason: str, status: int, detail: str, instance: str) -> dict[str, Any]:
    return {
        "type": type_of(reason),
        "title": title_of(reason),
        "status": int(status),
        "detail": detail,
        "instance": instance,
        "reason": reason,
    }
