"""The verdict: what clients were told, against what the streams hold and what the read models say."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from cli.titles import ruleset_for
from services.core.errors import DomainError, HistoryCorrupt
from services.core.events import Event
from services.core.ids import MatchId, PlayerId, StreamName, match_stream, stream_match, table_stream
from services.core.replay import Step, replayed
from services.core.shown import show_match
from services.kit.store import EventStore
from tests.e2e.checking import plain
from tests.faults.history import Eyes, Fate, Told, imprint
from tests.faults.playing import Ground
from tests.faults.tails import Cut, Kept, is_excused, kept_in, was_there
from tests.rules.hosting import events_in

READY_S_MAX = 60.0

Seen = tuple[Eyes, bytes, float]  # when first


@dataclass
class Verdict:
    """`lost`: acknowledged and not stored as told. `doubled`: stored more than once.

    `tail`: acknowledged, and gone with what the store had not flushed when it died. `tail_views`: seen of
    such events. `wrong`: everything else that must not be, as lines. `late_s`: until the read models had
    caught up. `uneven`: matches of which a lost tail left the read models or the stream more.
    """

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    unknown_stored: int = 0
    views: int = 0
    events: int = 0
    lost: list[Told] = field(default_factory=list)
    tail: list[Told] = field(default_factory=list)
    tail_views: int = 0
    doubled: list[Told] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    late_s: float = 0.0
    uneven: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not (self.lost or self.doubled or self.wrong)


async def check(
    ground: Ground, cuts: Sequence[Cut], findings: Sequence[str]
) -> tuple[Verdict, dict[str, Step]]:
    """Reads every stream of the run once nothing moves any more; the last step of each match as well."""
    await _until_answered(ground.store)
    history = ground.history
    verdict = Verdict(wrong=[*findings, *history.wrong])
    seen: dict[str, list[Seen]] = defaultdict(list)
    for eyes, prints in history.seen.items():
        seen[eyes.match] += [(eyes, print_, first) for print_, first in prints.items()]
    told: dict[StreamName, list[Told]] = defaultdict(list)
    for command in history.commands:
        told[command.stream].append(command)
    last: dict[str, Step] = {}
    for match in {stream_match(stream) for stream in told if stream} | {*map(MatchId, ground.matches)}:
        table, stream = table_stream(match), match_stream(match)
        entries = await ground.store.read(table)
        check_commands(verdict, told[table], events_in(entries), [entry.hash for entry in entries], cuts)
        try:
            steps = await _steps(ground.store, match)
        except HistoryCorrupt as error:
            verdict.wrong.append(str(error))
            continue
        heads = [step.match.head for step in steps]
        kept = check_commands(verdict, told[stream], [step.event for step in steps], heads, cuts)
        check_views(verdict, seen[match], steps, kept)
        if steps:
            last[match] = steps[-1]
    _check_oddities(verdict, ground)
    return verdict, last


async def _until_answered(store: EventStore) -> None:
    for _ in range(int(READY_S_MAX / 0.2)):
        try:
            await store.heads([match_stream(MatchId("any"))])
            return
        except DomainError:
            await asyncio.sleep(0.2)


async def _steps(store: EventStore, match: MatchId) -> list[Step]:
    entries = await store.read(match_stream(match))
    seed = await store.seed(match)
    versions = [entry.version for entry in entries]
    if versions != list(range(1, len(entries) + 1)):
        raise HistoryCorrupt(match_stream(match), len(entries), "the versions have a gap")
    return list(replayed(match, seed or b"", entries, ruleset_for))


def check_commands(
    verdict: Verdict, told: list[Told], events: list[Event], heads: list[bytes], cuts: Sequence[Cut]
) -> list[Kept]:
    """An ok is there once, as told, or lost with the tail; a refused command is not; an unknown at most once.

    Returns what each cut left of the stream.
    """
    stored = Counter(event.request_id for event in events if event.request_id)
    verdict.events += len(events)
    standing = [
        command for command in told if command.fate is Fate.OK and _stands(command, stored, events, heads)
    ]
    kept = kept_in(cuts, standing)
    as_told = {id(command) for command in standing}
    for command in told:
        times = stored[command.request_id]
        if times > 1:
            verdict.doubled.append(command)
        match command.fate:
            case Fate.OK:
                verdict.acknowledged += 1
                if id(command) not in as_told:
                    (verdict.tail if is_excused(command, kept) else verdict.lost).append(command)
            case Fate.REFUSED:
                verdict.refused += 1
                if times:
                    verdict.wrong.append(f"{command.stream}: refused as {command.reason}, and yet stored")
            case Fate.UNKNOWN:
                verdict.unknown += 1
                verdict.unknown_stored += times > 0
    return kept


def _stands(command: Told, stored: Counter[str], events: list[Event], heads: list[bytes]) -> bool:
    """Whether the stream holds the command where its receipt said; a table's receipt names no version."""
    if not command.version:
        return stored[command.request_id] > 0
    if command.version > len(events):
        return False
    event = events[command.version - 1]
    return event.request_id == command.request_id and heads[command.version - 1] == command.head


def check_views(verdict: Verdict, seen: list[Seen], steps: list[Step], kept: Sequence[Kept]) -> None:
    """Every view that anybody saw is the fold's, or was of a tail that is lost."""
    shown: dict[tuple[int, int | None], bytes] = {}
    for eyes, print_, first in seen:
        verdict.views += 1
        match, version, player = eyes
        if version <= len(steps):
            at = steps[version - 1].match
            seat = at.seat_of(PlayerId(player))
            if (version, seat) not in shown:
                shown[version, seat] = imprint(plain(show_match(at, seat)))
            if shown[version, seat] == print_:
                continue
            what = f"{match} at version {version}: seat {seat} was shown something else"
        else:
            what = f"{match}: version {version} was shown, and is not stored"
        if was_there(version, first, kept):
            verdict.tail_views += 1
        else:
            verdict.wrong.append(what)


def _check_oddities(verdict: Verdict, ground: Ground) -> None:
    """A repetition may be answered otherwise only when the first answer's event is lost."""
    gone = {id(command) for command in verdict.tail}
    verdict.wrong += [oddity.line for oddity in ground.history.oddities if id(oddity.told) not in gone]
