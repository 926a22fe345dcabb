"""The one table from a refusal to its status codes, and the way a refusal travels over gRPC and back.

Nobody else names a gRPC code or an HTTP status for an error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Never

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status as RichStatus
from grpc import StatusCode

from services.core import errors
from services.core.errors import DomainError

log = structlog.get_logger()

DOMAIN = "waystation"  # of every google.rpc.ErrorInfo of ours
DETAILS_KEY = "grpc-status-details-bin"

# Trailing metadata is bounded, and a text of ours may quote what a client sent.
TEXT_MAX = 400


@dataclass(eq=False)
class Unexpected(DomainError):
    """A fault of ours, or a refusal that only a newer service knows."""

    reason: ClassVar[str] = "BUG"
    says: ClassVar[str] = "{detail}"
    detail: str = DomainError.says


class Status(NamedTuple):
    """How a refusal is answered. `retryable`: the very same request may be accepted later."""

    code: StatusCode
    http: int
    retryable: bool = False


_UNREADABLE = Status(StatusCode.INVALID_ARGUMENT, 400)
_AGAINST_THE_RULES = Status(StatusCode.FAILED_PRECONDITION, 422)
_NOT_NOW = Status(StatusCode.FAILED_PRECONDITION, 409)
_STALE = Status(StatusCode.ABORTED, 409)
_NOT_FOUND = Status(StatusCode.NOT_FOUND, 404)
_FORBIDDEN = Status(StatusCode.PERMISSION_DENIED, 403)
_DOWN = Status(StatusCode.UNAVAILABLE, 503, retryable=True)
_BUG = Status(StatusCode.INTERNAL, 500)

TABLE: Mapping[type[DomainError], Status] = {
    errors.BadRequest: _UNREADABLE,
    errors.OptionInvalid: _UNREADABLE,
    errors.MoveUnreadable: _UNREADABLE,
    errors.MoveIllegal: _AGAINST_THE_RULES,
    errors.NotYourTurn: _NOT_NOW,
    errors.MatchOver: _NOT_NOW,
    errors.ClockExpired: _NOT_NOW,
    errors.ClockRunning: _NOT_NOW,
    errors.NothingToAnswer: _NOT_NOW,
    errors.OfferOpen: _NOT_NOW,
    errors.NoMoreOffers: _NOT_NOW,
    errors.TakebackRefused: _NOT_NOW,
    errors.VersionConflict: _STALE,
    # The writer's picture was wrong, not the request: sent again, it meets the stream as it is.
    errors.HistoryForked: Status(StatusCode.ABORTED, 503, retryable=True),
    errors.RequestIdReused: Status(StatusCode.ALREADY_EXISTS, 409),
    errors.SeatTaken: _NOT_NOW,
    errors.TableFull: _NOT_NOW,
    errors.AlreadySeated: _NOT_NOW,
    errors.TableClosed: _NOT_NOW,
    errors.TableNotReady: _NOT_NOW,
    errors.LimitReached: _NOT_NOW,
    errors.RebuildUnderWay: _NOT_NOW,
    errors.NotStarted: _NOT_NOW,
    errors.NotOver: _NOT_NOW,
    errors.TokenInvalid: Status(StatusCode.UNAUTHENTICATED, 401),
    errors.NotSeated: _FORBIDDEN,
    errors.NotAllowed: _FORBIDDEN,
    errors.NoSuchMatch: _NOT_FOUND,
    errors.NoSuchVersion: _NOT_FOUND,
    errors.NoSuchTitle: _NOT_FOUND,
    errors.NoSuchPlayer: _NOT_FOUND,
    errors.TooLarge: Status(StatusCode.INVALID_ARGUMENT, 413),
    errors.TooManyRequests: Status(StatusCode.RESOURCE_EXHAUSTED, 429, retryable=True),
    errors.Overloaded: Status(StatusCode.RESOURCE_EXHAUSTED, 503, retryable=True),
    errors.StoreUnavailable: _DOWN,
    errors.TitleDown: _DOWN,
    errors.ServiceDown: _DOWN,
    errors.Deadline: Status(StatusCode.DEADLINE_EXCEEDED, 504, retryable=True),
    errors.HistoryCorrupt: Status(StatusCode.DATA_LOSS, 500),
    Unexpected: _BUG,
    DomainError: _BUG,
}

_CLASSES: Mapping[str, type[DomainError]] = {
    error.reason: error for error in TABLE if error not in (DomainError, Unexpected)
}


def status_of(error: DomainError) -> Status:
    """The row of the nearest class that has one."""
    return next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)


def grpc_code(error: DomainError) -> StatusCode:
    return status_of(error).code


def http_status(error: DomainError) -> int:
    return status_of(error).http


def is_retryable(error: DomainError) -> bool:
    """Whether the very same request, with the same request id, may be accepted later."""
    return status_of(error).retryable


def retry_after_s(error: DomainError) -> int | None:
    """Seconds after which to try again: the error's own, 1 for an outage, None where trying is no use."""
    told = getattr(error, "retry_after_s", None)
    if isinstance(told, int):
        return told
    return 1 if http_status(error) == 503 else None


def facts_text(error: DomainError) -> dict[str, str]:
    """The facts as they travel: every value as text, cut to `TEXT_MAX` characters."""
    return {name: str(value)[:TEXT_MAX] for name, value in error.facts.items()}


def error_of(reason: str, detail: str, facts: Mapping[str, str]) -> DomainError:
    """The refusal that was sent as `reason` and `facts_text`; Unexpected(detail) if it is none we know."""
    kind = _CLASSES.get(reason)
    if kind is None:
        return Unexpected(detail)
    try:
        return kind(**dict(_typed(kind, facts)))
    except (KeyError, ValueError):
        return Unexpected(detail)


async def abort(context: grpc.aio.ServicerContext[Any, Any], error: DomainError) -> Never:
    """Ends the call with the rich status of `error`."""
    rich = _rich(error)
    await context.abort(grpc_code(error), rich.message, ((DETAILS_KEY, rich.SerializeToString()),))


def error_from(failed: grpc.aio.AioRpcError, service: str = "a service", limit_ms: int = 0) -> DomainError:
    """The refusal that ended a call. Without a rich status, what the transport's own code means.

    `service` and `limit_ms` are the facts of a ServiceDown or Deadline that the peer could not send.
    """
    rich = _sent(failed)
    if rich is not None:
        info = ErrorInfo()
        for detail in rich.details:
            if detail.Unpack(info) and info.domain == DOMAIN:
                return error_of(info.reason, rich.message, info.metadata)
    # What the transport says names addresses of ours, and may be read by a player: it goes to the log.
    code = failed.code()
    if structlog.is_configured():  # a service, and no command whose output is for people
        log.info("peer_failed", service=service, code=code.name, detail=failed.details())
    match code:
        case StatusCode.DEADLINE_EXCEEDED:
            return errors.Deadline(limit_ms)
        case StatusCode.UNIMPLEMENTED | StatusCode.UNKNOWN:
            return Unexpected(f"{service}: {code.name}")
        case StatusCode.UNAVAILABLE:
            return errors.ServiceDown(service, "it cannot be reached, or went away in the middle")
        case _:
            return errors.ServiceDown(service, code.name)


def _typed(kind: type[DomainError], facts: Mapping[str, str]) -> Iterator[tuple[str, str | int]]:
    for field in fields(kind):
        text = facts[field.name]
        yield field.name, int(text) if field.type is int else text


def _rich(error: DomainError) -> RichStatus:
    info = AnyMessage()
    info.Pack(ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=facts_text(error)))
    return RichStatus(code=grpc_code(error).value[0], message=str(error)[:TEXT_MAX], details=[info])


def _sent(failed: grpc.aio.AioRpcError) -> RichStatus | None:
    for key, value in failed.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            return RichStatus.FromString(value)
    return None
