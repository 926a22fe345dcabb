"""Request bodies in and JSON out: typed structs, or bytes that pass through."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from litestar import MediaType, Response
from msgspec import Struct

from services.core.errors import BadRequest

T = TypeVar("T")


class Body(Generic[T]):
    """Reads one kind of body. `type`: the struct that also describes it in the OpenAPI document."""

    def __init__(self, type_: type[T]) -> None:
        self.type = type_
        self._decoder = msgspec.json.Decoder(type_)

    def read(self, raw: bytes) -> T:
        """No body at all counts as an empty object. Raises BadRequest that names the field."""
        try:
            return self._decoder.decode(raw or b"{}")
        except msgspec.ValidationError as error:
            detail, _, path = str(error).partition(" - at `$")
            raise BadRequest(path.strip("`.") or "body", detail) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest("body", str(error)) from None


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
