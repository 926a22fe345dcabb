"""Titles as their own workers describe them: the gateway adds nothing but whether they can be played now."""

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct, field

from services.core.errors import NoSuchTitle
from services.core.ids import Slug
from services.kit.directory import Directory, TitleInfo


class SeatsRange(Struct, frozen=True):
    """Allowed numbers of players."""

    min: int
    max: int


class TitleSchemas(Struct, frozen=True):
    """JSON Schemas (2020-12) of what passes through as bytes; their `#` is this object with its `$defs`."""

    options: dict[str, Any]
    move: dict[str, Any]
    view: dict[str, Any]
    definitions: dict[str, Any] = field(default_factory=dict, name="$defs")


class TitleSummary(Struct, frozen=True, kw_only=True):
    """A title in a list. `available`: whether a match can be created now."""

    slug: Slug
    name: str
    seats: SeatsRange
    takebacks: bool
    rules_versions: tuple[int, ...]
    available: bool


class Title(TitleSummary, frozen=True, kw_only=True):
    """`rules`: rule id -> one sentence; every illegal move names one. `text`: the whole rules, Markdown."""

    rules: dict[str, str]
    schemas: TitleSchemas
    text: str


class _Description(Struct, frozen=True, kw_only=True):
    slug: Slug
    name: str
    seats: SeatsRange
    takebacks: bool
    rules: dict[str, str]
    schemas: TitleSchemas
    text: str


class Titles:
    """Every title that was ever announced."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def all(self) -> list[Title]:
        return [_title(info) for info in self._directory.titles().values()]

    def get(self, slug: str) -> Title:
        """Raises NoSuchTitle."""
        info = self._directory.titles().get(Slug(slug))
        if info is None:
            raise NoSuchTitle(slug)
        return _title(info)


def summary(title: Title) -> TitleSummary:
    return TitleSummary(**{name: getattr(title, name) for name in TitleSummary.__struct_fields__})


def _title(info: TitleInfo) -> Title:
    described = _read(info.description)
    return Title(
        slug=described.slug,
        name=described.name,
        seats=described.seats,
        takebacks=described.takebacks,
        rules_versions=info.rules_versions,
        available=info.available,
        rules=described.rules,
        schemas=described.schemas,
        text=described.text,
    )


@lru_cache(maxsize=64)
def _read(description: bytes) -> _Description:
    return msgspec.json.decode(description, type=_Description)
