"""A title with the codecs that belong to it: the typed form of its moves and options, and back."""

import re
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Raw

from services.core.errors import BadRequest, MoveUnreadable, OptionInvalid
from services.core.title import AnyTitle


class Ruleset:
    """One title in one rules version, ready to read and write JSON."""

    def __init__(self, title: AnyTitle) -> None:
        self.title = title
        self._move = msgspec.json.Decoder(title.Move).decode
        self._encode = msgspec.json.Encoder().encode

    def read_move(self, raw: Raw | bytes) -> Any:
        """The title's typed move. Raises MoveUnreadable."""
        try:
            return self._move(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise MoveUnreadable(str(error)) from error

    def write(self, value: Any) -> Raw:
        return Raw(self._encode(value))

    def read_options(self, raw: Raw | bytes, seats: int) -> Any:
        """The title's typed options, checked against the number of seats. Raises OptionInvalid."""
        if seats not in self.title.seats:
            offered = f"{self.title.seats.start} to {self.title.seats.stop - 1}"
            raise OptionInvalid("seats", f"{self.title.name} is played by {offered}, not by {seats}")
        try:
            options = msgspec.json.decode(raw or b"{}", type=self.title.Options)
        except msgspec.ValidationError as error:
            raise OptionInvalid(*_blamed(str(error))) from error
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest("options", str(error)) from error
        self.title.check(options, seats)
        return options

    @cached_property
    def schemas(self) -> dict[str, Any]:
        """JSON Schemas (2020-12) of the title's options, move and view."""
        kinds = (self.title.Options, self.title.Move, self.title.View)
        (options, move, view), components = msgspec.json.schema_components(
            kinds, ref_template="#/$defs/{name}"
        )
        return {"options": options, "move": move, "view": view, "$defs": components}


def _blamed(message: str) -> tuple[str, str]:
    """The option that a validation error is about, and what is wrong with it."""
    detail, _, path = message.partition(" - at `$.")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", detail)
    if unknown:
        return unknown[1], "there is no such option"
    return path.rstrip("`") or "options", detail
