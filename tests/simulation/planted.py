"""Bugs for the simulation to find, each in force for as long as its context."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from unittest.mock import patch

from services.core.decide import Decision
from services.core.errors import DomainError
from services.core.match import Match
from services.kit import memory_store
from services.rules.ledger import Ledger
from services.rules.news import News

Bug = Callable[[], AbstractContextManager[Any]]


def acknowledge_before_append() -> AbstractContextManager[Any]:
    """The receipt goes out whatever becomes of the append."""
    append = Ledger.append

    async def careless(self: Ledger, decision: Decision, previous: bytes) -> News:
        try:
            return await append(self, decision, previous)
        except DomainError:
            return News(decision.match, decision.event, decision.entry, previous)

    return patch.object(Ledger, "append", careless)


def no_version_check() -> AbstractContextManager[Any]:
    """The store takes whatever comes."""
    return patch.object(memory_store, "_refuse_other_head", lambda append, entries: None)


def no_dedupe() -> AbstractContextManager[Any]:
    """A request id means nothing: a repetition is a new command."""
    return patch.object(Match, "answered_at", lambda self, command, issued: None)


def publish_before_store() -> AbstractContextManager[Any]:
    """The world hears of events that may never be stored."""
    append = Ledger.append

    async def loud(self: Ledger, decision: Decision, previous: bytes) -> News:
        self._publish(News(decision.match, decision.event, decision.entry, previous))
        return await append(self, decision, previous)

    return patch.object(Ledger, "append", loud)


class Plant(NamedTuple):
    """A bug, and what the fault that betrays it looks like: a regular expression."""

    bug: Bug
    known_by: str


PLANTS: Mapping[str, Plant] = {
    "acknowledge before append": Plant(
        acknowledge_before_append, r"version \d+ was acknowledged|two receipts"
    ),
    "no version check": Plant(
        no_version_check, r"the versions are|were both stored|does not match its hash|two receipts"
    ),
    "no dedupe": Plant(no_dedupe, r"stored twice|two receipts"),
    "publish before store": Plant(publish_before_store, r"read models know"),
}
