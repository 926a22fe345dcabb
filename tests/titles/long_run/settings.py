"""All ways to set a title up: every combination of its options' values at every number of seats."""

from collections.abc import Iterator
from itertools import product

import msgspec

from services.core.title import AnyTitle
from tests.titles.found import Setting, accepts, option_values, title_of


def every_setting(slug: str) -> list[Setting]:
    """Each set of options that the title accepts, at each number of seats that goes with it."""
    return list(_every_setting(slug, title_of(slug)))


def _every_setting(slug: str, title: AnyTitle) -> Iterator[Setting]:
    values = option_values(title)
    for chosen in product(*values.values()):
        options = msgspec.json.encode(dict(zip(values, chosen, strict=True)))
        yield from (Setting(slug, options, seats) for seats in title.seats if accepts(title, options, seats))
