"""All titles of this installation, by name: a worker hosts one, an operator looks into any."""

import pkgutil
from functools import cache

from services import titles
from services.core.errors import NoSuchTitle
from services.core.ruleset import Ruleset
from services.kit.settings import SettingInvalid
from services.rules.library import Library, load


def shipped() -> list[str]:
    """The slugs of all titles there are."""
    return sorted(module.name for module in pkgutil.iter_modules(titles.__path__))


@cache
def library(slug: str) -> Library:
    """Raises NoSuchTitle."""
    try:
        return load(slug)
    except SettingInvalid as error:
        raise NoSuchTitle(slug) from error


def ruleset_for(title: str, rules_version: int) -> Ruleset:
    """Raises NoSuchTitle, and TitleDown for a rules version that this installation lacks."""
    return library(title).ruleset(rules_version)
