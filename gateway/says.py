"""What a route says about itself where its signature cannot: bodies that pass as bytes, and its refusals."""

from typing import Any, NamedTuple

from gateway.bodies import Body
from services.core import errors
from services.core.errors import DomainError

JSON = "application/json"

Refusals = tuple[type[DomainError], ...]

SIGNED: Refusals = (errors.TokenInvalid,)
AT_A_TABLE: Refusals = (errors.NoSuchMatch, errors.ServiceDown, errors.Deadline)
AT_A_MATCH: Refusals = (
    *AT_A_TABLE,
    errors.TokenInvalid,
    errors.NotSeated,
    errors.NotStarted,
    errors.TitleDown,
    errors.StoreUnavailable,
    errors.Overloaded,
    errors.HistoryCorrupt,
)


class Says(NamedTuple):
    """`answers`: structs, of which an answer is one, or a JSON Schema. `refuses`: beside what all may."""

    answers: tuple[Any, ...]
    body: Body[Any] | None = None
    refuses: Refusals = ()
    headers: tuple[str, ...] = ()
    media_type: str = JSON


def says(
    *answers: Any,
    body: Body[Any] | None = None,
    refuses: Refusals = (),
    headers: tuple[str, ...] = (),
    media_type: str = JSON,
) -> dict[str, Says]:
    """The `opt` of a route handler."""
    return {"says": Says(answers, body, refuses, headers, media_type)}
