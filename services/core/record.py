"""The portable record of a finished match, and its proof: nothing but this file and the title is needed.

Storage format: records are kept by their readers for years.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from services.core.chance import LuckOutcome, Rolling
from services.core.errors import BadRequest, HistoryCorrupt, NotOver
from services.core.events import Entry, bytes_of, genesis, text_of, unseal
from services.core.ids import MatchId, match_stream
from services.core.match import Match
from services.core.match_events import Happening, MatchStarted, MoveMade, happening
from services.core.replay import RulesetFor, Step, replayed
from services.core.secrecy import SEED_BYTES, commitment

FORMAT = "waystation-record/1"


# Members that it does not know are refused: nothing would prove them.
class RecordedEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """`body`: the event exactly as it was stored. `hash`: Base64, after this entry."""

    body: str
    hash: str


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole match. The seed is in the last entry."""

    format: str
    match: str
    title: str
    rules_version: int
    entries: list[RecordedEntry]


def record_of(match: Match, entries: Sequence[Entry]) -> Record:
    """The record of a finished match. Raises NotOver while it runs."""
    if match.outcome is None:
        raise NotOver
    return Record(
        format=FORMAT,
        match=match.id,
        title=match.started.title,
        rules_version=match.started.rules_version,
        entries=[RecordedEntry(entry.body.decode(), text_of(entry.hash)) for entry in entries],
    )


def read_record(raw: bytes) -> Record:
    """Raises BadRequest for anything that is no record of ours."""
    try:
        record = msgspec.json.decode(raw, type=Record)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRequest("record", str(error)) from error
    if record.format != FORMAT:
        raise BadRequest("format", f"is {record.format}, not {FORMAT}")
    return record


def verify(record: Record, ruleset_for: RulesetFor) -> list[Step]:
    """Every version of the match, proved: chain, digests, commitment, luck, outcome, the record's own words.

    Raises HistoryCorrupt with the first version that does not hold.
    """
    match = MatchId(record.match)
    entries = _entries(record)
    steps = prove(match, _seed(match, entries), entries, ruleset_for)
    started = steps[0].match.started
    if (record.title, record.rules_version) != (started.title, started.rules_version):
        began = f"the match began as {started.title}, rules version {started.rules_version}"
        raise HistoryCorrupt(match_stream(match), 1, began)
    return steps


def prove(match: MatchId, seed: bytes, entries: Sequence[Entry], ruleset_for: RulesetFor) -> list[Step]:
    """As `verify`, for a match that may still run, by whoever has its seed. There is at least one entry."""
    steps = list(replayed(match, seed, entries, ruleset_for))
    _prove_luck(match, seed, steps)
    _prove_outcome(match, steps[-1])
    return steps


def _entries(record: Record) -> list[Entry]:
    stream = match_stream(MatchId(record.match))
    entries = []
    for version, entry in enumerate(record.entries, 1):
        try:
            entries.append(Entry(version, entry.body.encode(), bytes_of(entry.hash)))
        except ValueError as error:
            raise HistoryCorrupt(stream, version, f"the hash is no Base64: {error}") from error
    if not entries:
        raise HistoryCorrupt(stream, 0, "the record is empty")
    return entries


def _seed(match: MatchId, entries: Sequence[Entry]) -> bytes:
    stream = match_stream(match)
    previous = entries[-2].hash if len(entries) > 1 else genesis(stream)
    last = unseal(stream, entries[-1], previous, len(entries))
    try:
        seed = bytes_of(happening(stream, last).seed)
    except ValueError as error:
        raise HistoryCorrupt(stream, last.version, f"the seed is no Base64: {error}") from error
    if len(seed) != SEED_BYTES:
        raise HistoryCorrupt(stream, last.version, "the last event does not reveal a seed")
    return seed


def _prove_luck(match: MatchId, seed: bytes, steps: Sequence[Step]) -> None:
    """The seed is the one promised at the start, and every recorded outcome is what it gives."""
    stream = match_stream(match)
    if commitment(seed) != steps[0].match.started.commitment:
        raise HistoryCorrupt(stream, 1, "the seed is not the one that was committed to")
    before: Match | None = None
    for step in steps:
        fact = happening(stream, step.event)
        recorded = fact.chance if isinstance(fact, MatchStarted | MoveMade) else []
        if _rolled_again(before, step, fact) != recorded:
            raise HistoryCorrupt(stream, step.event.version, "the luck is not what seed and nonces give")
        before = step.match


def _rolled_again(before: Match | None, step: Step, fact: Happening) -> list[LuckOutcome]:
    event, after = step
    title = after.ruleset.title
    if isinstance(fact, MatchStarted):
        chance = Rolling(after.luck_key, 0)
        title.setup(after.ruleset.read_options(fact.options, len(fact.seats)), len(fact.seats), chance)
        return chance.outcomes
    if before is None or not isinstance(fact, MoveMade) or not isinstance(event.by, int):
        return []
    chance = Rolling(before.luck_key, before.luck)
    title.apply(before.state, event.by, after.ruleset.read_move(fact.move), chance)
    return chance.outcomes


def _prove_outcome(match: MatchId, last: Step) -> None:
    """The outcome written down is the title's own, where the title ended the match."""
    own = last.match.ruleset.title.outcome(last.match.state)
    if own is not None and own != last.match.outcome:
        raise HistoryCorrupt(match_stream(match), last.event.version, "the outcome is not the position's")
