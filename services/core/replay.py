"""`fold`: a match from its stream. Every step proves the hash chain, the position's digest and the salt."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from services.core.errors import HistoryCorrupt, NoSuchMatch
from services.core.events import Entry, Event, genesis, unseal
from services.core.ids import MatchId, match_stream
from services.core.match import Match, begin, evolve
from services.core.ruleset import Ruleset
from services.core.secrecy import digest, salt


class StartedWith(NamedTuple):
    """What version 1 says about who can read the rest."""

    title: str
    rules_version: int


class _Heading(msgspec.Struct):
    title: str
    rules_version: int


RulesetFor = Callable[[str, int], Ruleset]  # (title, rules version); raises TitleDown or NoSuchTitle


def started_with(match: MatchId, first: Event) -> StartedWith:
    """The title and rules version a match began with. Raises HistoryCorrupt."""
    try:
        heading = msgspec.json.decode(first.data, type=_Heading)
    except msgspec.MsgspecError as error:
        raise HistoryCorrupt(match_stream(match), 1, f"unreadable beginning: {error}") from error
    return StartedWith(heading.title, heading.rules_version)


def fold(match: MatchId, seed: bytes, entries: Iterable[Entry], ruleset_for: RulesetFor) -> Match:
    """The match after all `entries`, which begin with version 1.

    Raises NoSuchMatch when there are none, HistoryCorrupt (with the version) at the first that does not hold.
    """
    folded: Match | None = None
    for step in replayed(match, seed, entries, ruleset_for):
        folded = step.match
    if folded is None:
        raise NoSuchMatch(match)
    return folded


class Step(NamedTuple):
    """One event and the match after it."""

    event: Event
    match: Match


def replayed(
    match: MatchId, seed: bytes, entries: Iterable[Entry], ruleset_for: RulesetFor
) -> Iterable[Step]:
    """The match version by version. Raises as `fold` does."""
    stream = match_stream(match)
    folded: Match | None = None
    for entry in entries:
        if folded is None:
            event = unseal(stream, entry, genesis(stream), 1)
            ruleset = ruleset_for(*started_with(match, event))
            folded = proved(begin(match, ruleset, seed, event, entry.hash), event)
            yield Step(event, folded)
        else:
            step = extended(folded, entry)
            folded = step.match
            yield step


def extended(match: Match, entry: Entry) -> Step:
    """`match` after one more entry. Raises HistoryCorrupt."""
    event = unseal(match_stream(match.id), entry, match.head, match.version + 1)
    return Step(event, proved(evolve(match, event, entry.hash), event))


def proved(match: Match, event: Event) -> Match:
    """`match` as it is. Raises HistoryCorrupt unless the event's digest and salt belong to this position."""
    if event.digest != digest(match.seed, match.ruleset.title.canonical(match.state)):
        raise HistoryCorrupt(match_stream(match.id), event.version, "the position does not match its digest")
    if event.salt != salt(match.seed, event.version):
        raise HistoryCorrupt(match_stream(match.id), event.version, "the salt is not that of the seed")
    return match
