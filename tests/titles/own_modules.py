"""What a title's own folder of tests tells the suites over all titles: `twins` and `invariants`."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@cache
def own_module(slug: str, name: str) -> Any:
    """`tests/titles/<slug>/<name>.py`, or the toy's. Raises ModuleNotFoundError when it is missing."""
    for place in (f"tests.titles.{slug}", f"tests.toy.{slug}"):
        if find_spec(place) and find_spec(f"{place}.{name}"):
            return import_module(f"{place}.{name}")
    raise ModuleNotFoundError(f"tests/titles/{slug}/{name}.py is missing: see docs/titles.md")
