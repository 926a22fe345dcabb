"""Which matches the secrecy suite looks at: every setting of every title, the toy included.

What a viewer may not know is said once per title, in `tests/titles/<slug>/twins.py` (see docs/titles.md).
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple, Protocol

from services.core.ruleset import Ruleset
from services.core.title import AnyTitle
from tests.titles.found import settings
from tests.titles.own_modules import own_module
from tests.toy.titles.high_card import VERSIONS as TOY

Viewer = int | None  # a seat; None is a spectator
Secrets = Mapping[str, Callable[[Any], Any]]


class Twins(Protocol):
    """A title's twins.py. `SECRETS`: what is hidden, by name, as functions of a position."""

    HIDES: bool  # False: everything is public, and `twin` gives the position back
    SECRETS: Secrets

    def known(self, state: Any, viewer: Viewer) -> Any:
        """What `viewer` may know of a position: equal exactly for positions that look the same."""

    def twin(self, state: Any, viewer: Viewer, rng: Random) -> Any:
        """Another position that looks the same: all that is hidden from `viewer` differs, nothing else."""


class Case(NamedTuple):
    """A title set up in one way. `options`: JSON."""

    title: AnyTitle
    options: bytes
    seats: int

    @property
    def rules(self) -> Ruleset:
        return Ruleset(self.title)

    @property
    def name(self) -> str:
        return f"{self.title.slug} x{self.seats} {self.options.decode()}"

    @property
    def twins(self) -> Twins:
        twins: Twins = own_module(self.title.slug, "twins")
        return twins

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        return (None, *range(self.seats))


def cases() -> list[Case]:
    """All of them: the shipped titles as found, and the toy at each number of seats."""
    found = [Case(setting.title, setting.options, setting.seats) for setting in settings()]
    if not any(case.title.slug == "high_card" for case in found):
        found += [Case(TOY[1], b"{}", seats) for seats in TOY[1].seats]
    return found


def one_case_a_title() -> list[Case]:
    """Each title by its defaults with the most seats it takes, where most is hidden."""
    widest = sorted((case for case in cases() if case.options == b"{}"), key=lambda case: case.seats)
    return list({case.title.slug: case for case in widest}.values())
