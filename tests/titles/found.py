"""Every title in the tree, its option sets, and random play: what the suites over all titles share.

Nothing here names a title: folders of services/titles are found, options come from their JSON Schema.
"""

import pkgutil
import random
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import msgspec

from services import titles
from services.core.chance import LuckOutcome, Rolling, luck_key
from services.core.errors import OptionInvalid
from services.core.ruleset import Ruleset
from services.core.title import AnyTitle

SLUGS = sorted(module.name for module in pkgutil.iter_modules(titles.__path__))


@cache
def title_of(slug: str) -> AnyTitle:
    """The title in its newest rules version."""
    versions: dict[int, AnyTitle] = import_module(f"services.titles.{slug}").VERSIONS
    return versions[max(versions)]


class Setting(NamedTuple):
    """One way to set a title up: `options` is JSON."""

    slug: str
    options: bytes
    seats: int

    @property
    def title(self) -> AnyTitle:
        return title_of(self.slug)

    @property
    def rules(self) -> Ruleset:
        return Ruleset(self.title)

    @property
    def name(self) -> str:
        return f"{self.slug} x{self.seats} {self.options.decode()}"


class Ply(NamedTuple):
    """One move of a random match, and the positions around it."""

    before: Any
    seat: int
    move: Any
    luck: list[LuckOutcome]
    after: Any


class Playout(NamedTuple):
    """A whole random match."""

    setting: Setting
    first: Any
    luck: list[LuckOutcome]
    plies: list[Ply]

    @property
    def last(self) -> Any:
        return self.plies[-1].after if self.plies else self.first


@cache
def settings() -> tuple[Setting, ...]:
    """Each title's defaults at every number of seats, and each value of each option once."""
    found = []
    for slug in SLUGS:
        title = title_of(slug)
        found += [Setting(slug, b"{}", seats) for seats in title.seats]
        found += [
            _nearest_to_the_defaults(title, name, value)
            for name, values in option_values(title).items()
            for value in values
            if value != getattr(title.Options(), name)
        ]
    return tuple(dict.fromkeys(found))


def option_values(title: AnyTitle) -> dict[str, list[Any]]:
    """By option, the values that its JSON Schema names: of a range of numbers both ends."""
    schema = msgspec.json.schema(title.Options)
    fields = schema["$defs"][title.Options.__name__]["properties"]
    return {name: list(_values(field)) for name, field in fields.items()}


def accepts(title: AnyTitle, options: bytes, seats: int) -> bool:
    """Whether a table may be set up like this."""
    try:
        Ruleset(title).read_options(options, seats)
    except OptionInvalid:
        return False
    return True


def _nearest_to_the_defaults(title: AnyTitle, name: str, value: Any) -> Setting:
    """A setting with this value that the title accepts, and as few other values as may be."""
    others = [(other, choice) for other, choices in option_values(title).items() for choice in choices]
    for changed in ({}, *({other: choice} for other, choice in others if other != name)):
        options = msgspec.json.encode({**changed, name: value})
        for seats in title.seats:
            if accepts(title, options, seats):
                return Setting(title.slug, options, seats)
    raise AssertionError(f"{title.slug} accepts {name} = {value!r} with no other option")


def _values(field: dict[str, Any]) -> Iterator[Any]:
    if "enum" in field:
        yield from field["enum"]
    if "const" in field:
        yield field["const"]
    for choice in field.get("anyOf", ()):
        yield from _values(choice)
    if field.get("type") == "boolean":
        yield from (False, True)
    if field.get("type") == "integer":
        yield from {field.get("minimum", 0), field.get("maximum", field.get("minimum", 0))}


def play(setting: Setting, seed: int, plies: int = 100_000) -> Playout:
    """A random match of at most `plies` moves; the same for the same arguments, in any process."""
    title = setting.title
    rng = random.Random(f"{setting.name} {seed}")
    options = setting.rules.read_options(setting.options, setting.seats)
    key = luck_key(rng.randbytes(32), "m", [""] * setting.seats)
    chance = Rolling(key, 0)
    first = state = title.setup(options, setting.seats, chance)
    ordinal = len(chance.outcomes)
    played: list[Ply] = []
    while (to_act := title.to_act(state)) and len(played) < plies:
        seat = rng.choice(sorted(to_act))
        move = rng.choice(list(title.legal_moves(state, seat)))
        rolling = Rolling(key, ordinal)
        after = title.apply(state, seat, move, rolling)
        ordinal += len(rolling.outcomes)
        played.append(Ply(state, seat, move, rolling.outcomes, after))
        state = after
    return Playout(setting, first, chance.outcomes, played)


@cache
def match_of(setting: Setting) -> Playout:
    """One whole random match of `setting`, played once for all tests of a run."""
    return play(setting, seed=1)


def sampled(playout: Playout, most: int = 12) -> list[Ply]:
    """Up to `most` plies, spread evenly from the first to the last."""
    plies = playout.plies
    step = max(1, len(plies) // most)
    return [*plies[::step][: most - 1], plies[-1]]
