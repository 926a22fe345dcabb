"""Request bodies in and JSON out: typed structs, or bytes that pass through."""

import re
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from litestar import MediaType, Response
from msgspec import Struct

from services.core.errors import BadRequest

FIELD_CHARACTERS_MAX = 128  # of what the refusal repeats

T = TypeVar("T")

# How msgspec puts it. Of what is unknown, a client chose the name.
_MEMBER = re.compile(
    "Object contains unknown field `(?P<unknown>.*)`|Object missing required field `(?P<missing>.*)`",
    re.DOTALL,
)


class Body(Generic[T]):
    """Reads one kind of body. `type`: the struct that also describes it in the OpenAPI document."""

    def __init__(self, type_: type[T]) -> None:
        self.type = type_
        self._decoder = msgspec.json.Decoder(type_)

    def read(self, raw: bytes) -> T:
        """No body at all counts as an empty object. Raises BadRequest that names the field."""
        try:
            return self._decoder.decode(raw or b"{}")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise blamed(error, "body") from None


def blamed(error: Exception, whole: str) -> BadRequest:
    """The refusal of JSON that msgspec could not read; it names the member, or else the `whole`."""
    if not isinstance(error, msgspec.ValidationError):
        return BadRequest(whole, str(error))
    detail, _, path = str(error).partition(" - at `$")
    members = [path.strip("`.")]
    if found := _MEMBER.fullmatch(detail):
        members.append(found["unknown"] or found["missing"])
        detail = "is not known here" if found["unknown"] else "is missing"
    field = ".".join(filter(None, members))
    return BadRequest(field[:FIELD_CHARACTERS_MAX] or whole, detail)


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """What a command without a body may still be sent."""


_NOTHING = Body(Nothing)


def require_nothing(raw: bytes) -> None:
    """Raises BadRequest unless `raw` is empty, white space or an empty object."""
    _NOTHING.read(raw.strip(b" \t\r\n"))


def passed(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[bytes]:
    """JSON that is already written."""
    return Response(body, status_code=status, headers=headers, media_type=MediaType.JSON)


def answered(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[bytes]:
    """`content` as JSON."""
    return passed(msgspec.json.encode(content), status, headers)
