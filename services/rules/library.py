"""The one title that a worker hosts, in all the rules versions it can still play."""

import re
from collections.abc import Mapping
from importlib import import_module

import msgspec
from msgspec import Raw

from services.core.errors import NoSuchTitle, OptionInvalid, TitleDown
from services.core.ruleset import Ruleset
from services.core.title import AnyTitle, component_data
from services.kit.settings import SettingInvalid

SHELVES = "services.titles"


class Library:
    """A title by rules version. `rulebook`: the rules as players read them, Markdown."""

    def __init__(self, versions: Mapping[int, AnyTitle], rulebook: str) -> None:
        self.rulesets = {number: Ruleset(versions[number]) for number in sorted(versions)}
        self.newest = max(versions)
        self.title = versions[self.newest]
        self.slug = self.title.slug
        self.description = self._described(rulebook)

    def ruleset(self, rules_version: int) -> Ruleset:
        """Raises TitleDown: another worker may carry the version that this one lacks."""
        try:
            return self.rulesets[rules_version]
        except KeyError:
            raise TitleDown(self.slug, f"this worker lacks rules version {rules_version}") from None

    def ruleset_for(self, title: str, rules_version: int) -> Ruleset:
        """The `RulesetFor` of this worker. Raises NoSuchTitle for every other title, and TitleDown."""
        if title != self.slug:
            raise NoSuchTitle(title)
        return self.ruleset(rules_version)

    def checked(self, options: Raw | bytes, seats: int) -> tuple[Raw, int, int]:
        """The options with all defaults, the seats, and the fewest seats these options allow.

        `seats`: 0 takes the fewest. Raises OptionInvalid, BadRequest.
        """
        rules = self.rulesets[self.newest]
        fewest = self._fewest(options)
        chosen = seats or fewest
        return rules.write(rules.read_options(options, chosen)), chosen, fewest

    def _fewest(self, options: Raw | bytes) -> int:
        """The fewest seats that go with `options`; the title's fewest when none do."""
        for seats in self.title.seats:
            try:
                self.rulesets[self.newest].read_options(options, seats)
            except OptionInvalid:
                continue
            return seats
        return self.title.seats.start

    def _described(self, rulebook: str) -> bytes:
        """JSON: what lobby, gateway and clients need to know of the title."""
        title = self.title
        return msgspec.json.encode(
            {
                "slug": title.slug,
                "name": title.name,
                "rules_versions": list(self.rulesets),
                "seats": {"min": title.seats.start, "max": title.seats.stop - 1},
                "takebacks": title.takebacks,
                "schemas": self.rulesets[self.newest].schemas,
                "rules": dict(title.rules),
                "text": rulebook,
            }
        )


def load(slug: str) -> Library:
    """The title in services/titles/<slug>, its rulebook from seeds/<slug>. Raises SettingInvalid."""
    module = f"{SHELVES}.{slug}"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", slug):
        raise SettingInvalid(f"TITLE is no name of a title: {slug!r}")
    try:
        versions = import_module(module).VERSIONS
    except ModuleNotFoundError as error:
        if error.name != module:  # the title is there, and something that it imports is not
            raise
        raise SettingInvalid(f"TITLE names a title that is not there: {slug}") from None
    return Library(versions, component_data(slug, "rules.md").decode())
