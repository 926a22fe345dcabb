"""What is measured per title: its default options at every number of seats, and those sets that cost more."""

import pkgutil
from importlib import import_module
from typing import NamedTuple

from services import titles
from services.core.title import AnyTitle

# Slug -> option sets besides the defaults, where they change the cost.
HEAVIER = {
    "wayfare": (b'{"size":6}', b'{"size":10}'),
    "make_way": (b'{"rounds":4}',),
    "a_way_back_home": (b'{"side":"B"}',),
}


class Case(NamedTuple):
    """One title, its options as JSON, and a number of seats."""

    title: AnyTitle
    options: bytes
    seats: int

    @property
    def name(self) -> str:
        shown = "" if self.options == b"{}" else f" {self.options.decode()}"
        return f"{self.title.slug} x{self.seats}{shown}"


def _cases() -> list[Case]:
    found = []
    for module in pkgutil.iter_modules(titles.__path__):
        versions = import_module(f"services.titles.{module.name}").VERSIONS
        title = versions[max(versions)]
        found += [Case(title, b"{}", seats) for seats in title.seats]
        found += [Case(title, options, title.seats.start) for options in HEAVIER.get(title.slug, ())]
    return found


CASES = _cases()
