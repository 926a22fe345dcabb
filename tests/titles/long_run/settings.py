"""All ways to set a title up: every combination of its options' values at every number of seats."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import msgspec

from services.core.errors import OptionInvalid
from services.core.ruleset import Ruleset
from services.core.title import AnyTitle
from tests.titles.found import Setting, _values, title_of


def option_values(title: AnyTitle) -> dict[str, list[Any]]:
    """By option, the values that its JSON Schema names: of a range of numbers both ends."""
    schema = msgspec.json.schema(title.Options)
    fields = schema["$defs"][title.Options.__name__]["properties"]
    return {name: list(_values(field)) for name, field in fields.items()}


def every_setting(slug: str) -> list[Setting]:
    """Each set of options that the title accepts, at each number of seats that goes with it."""
    return list(_every_setting(slug, title_of(slug)))


def _every_setting(slug: str, title: AnyTitle) -> Iterator[Setting]:
    values = option_values(title)
    for chosen in product(*values.values()):
        options = msgspec.json.encode(dict(zip(values, chosen, strict=True)))
        for seats in title.seats:
            try:
                Ruleset(title).read_options(options, seats)
            except OptionInvalid:
                continue
            yield Setting(slug, options, seats)
