"""What a route says about itself where its signature cannot: bodies that pass as bytes, and its refusals."""

from typing import Any, NamedTuple

from gateway.bodies import Body
from services.core import errors
from services.core.errors import DomainError

ANYWHERE: tuple[type[DomainError], ...] = (errors.TooManyRequests, errors.BadRequest)
SIGNED: tuple[type[DomainError], ...] = (errors.TokenInvalid,)
AT_A_TABLE: tuple[type[DomainError], ...] = (errors.NoSuchMatch, errors.ServiceDown, errors.Deadline)
AT_A_MATCH: tuple[type[DomainError], ...] = (
    *AT_A_TABLE,
    errors.NotSeated,
    errors.NotStarted,
    errors.TitleDown,
    errors.StoreUnavailable,
    errors.Overloaded,
    errors.HistoryCorrupt,
)


class Says(NamedTuple):
    """`answer`: a struct, a union of structs, or a JSON Schema. `refuses`: beside those of every route."""

    answer: Any
    body: Body[Any] | None = None
    refuses: tuple[type[DomainError], ...] = ()
    answer_headers: tuple[str, ...] = ()
    media_type: str = "application/json"


def says(
    answer: Any,
    *refuses: type[DomainError],
    body: Body[Any] | None = None,
    answer_headers: tuple[str, ...] = (),
    media_type: str = "application/json",
) -> dict[str, Says]:
    """The `opt` of a route handler."""
    return {"says": Says(answer, body, refuses, answer_headers, media_type)}
