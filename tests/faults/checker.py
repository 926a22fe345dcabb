"""The verdict: what clients were told, against what the streams hold and what the read models say."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from cli.titles import ruleset_for
from deploy.local.system import System
from services.core.errors import DomainError, HistoryCorrupt
from services.core.events import Event
from services.core.ids import MatchId, PlayerId, StreamName, match_stream, stream_match, table_stream
from services.core.replay import Step, replayed
from services.core.shown import show_match
from services.kit.store import EventStore
from tests.e2e.checking import plain
from tests.faults.history import Eyes, Fate, Told, imprint
from tests.faults.playing import Ground
from tests.rules.hosting import events_in

CATCH_UP_S_MAX = 90.0
READY_S_MAX = 60.0


@dataclass
class Verdict:
    """`lost`: acknowledged and not stored as told. `doubled`: stored more than once.

    `wrong`: everything else that must not be, as lines. `late_s`: until the read models had caught up.
    """

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    unknown_stored: int = 0
    views: int = 0
    events: int = 0
    lost: list[Told] = field(default_factory=list)
    doubled: list[Told] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    late_s: float = 0.0

    @property
    def holds(self) -> bool:
        return not (self.lost or self.doubled or self.wrong)


async def check(ground: Ground, system: System) -> Verdict:
    """Reads every stream of the run once nothing moves any more."""
    await _until_answered(ground.store)
    history = ground.history
    verdict = Verdict(wrong=list(history.wrong))
    seen: dict[str, list[tuple[Eyes, bytes]]] = defaultdict(list)
    for eyes, print_ in history.seen.items():
        seen[eyes.match].append((eyes, print_))
    told: dict[StreamName, list[Told]] = defaultdict(list)
    for command in history.commands:
        told[command.stream].append(command)
    last: dict[str, Step] = {}
    for match in ground.matches:
        stream = match_stream(MatchId(match))
        try:
            steps = await _steps(ground.store, MatchId(match))
        except HistoryCorrupt as error:
            verdict.wrong.append(str(error))
            continue
        check_commands(
            verdict, told[stream], [step.event for step in steps], [step.match.head for step in steps]
        )
        check_views(verdict, match, seen[match], steps)
        if steps:
            last[match] = steps[-1]
        table = await ground.store.read(table_stream(MatchId(match)))
        check_commands(verdict, told[table_stream(MatchId(match))], events_in(table), [e.hash for e in table])
    await _check_read_models(verdict, ground, last)
    return verdict


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


def check_commands(verdict: Verdict, told: list[Told], events: list[Event], heads: list[bytes]) -> None:
    """An ok is there once, as told; a refused command is not; an unknown one at most once."""
    stored = Counter(event.request_id for event in events if event.request_id)
    verdict.events += len(events)
    for command in told:
        times = stored[command.request_id]
        if times > 1:
            verdict.doubled.append(command)
        match command.fate:
            case Fate.OK:
                verdict.acknowledged += 1
                if times == 0 or not _stands(command, events, heads):
                    verdict.lost.append(command)
            case Fate.REFUSED:
                verdict.refused += 1
                if times:
                    verdict.wrong.append(f"{command.stream}: refused as {command.reason}, and yet stored")
            case Fate.UNKNOWN:
                verdict.unknown += 1
                verdict.unknown_stored += times > 0


def _stands(command: Told, events: list[Event], heads: list[bytes]) -> bool:
    """Whether the stream holds the command where its receipt said; a table's receipt names no version."""
    if not command.version:
        return True
    if command.version > len(events):
        return False
    event = events[command.version - 1]
    return event.request_id == command.request_id and heads[command.version - 1] == command.head


def check_views(verdict: Verdict, match: str, seen: list[tuple[Eyes, bytes]], steps: list[Step]) -> None:
    """Every view that anybody saw is the fold's."""
    shown: dict[tuple[int, int | None], bytes] = {}
    for eyes, print_ in seen:
        verdict.views += 1
        if eyes.version > len(steps):
            verdict.wrong.append(f"{match}: version {eyes.version} was shown, and is not stored")
            continue
        at = steps[eyes.version - 1].match
        seat = at.seat_of(PlayerId(eyes.player))
        if (eyes.version, seat) not in shown:
            shown[eyes.version, seat] = imprint(plain(show_match(at, seat)))
        if shown[eyes.version, seat] != print_:
            verdict.wrong.append(f"{match} at version {eyes.version}: seat {seat} was shown something else")


async def _check_read_models(verdict: Verdict, ground: Ground, last: dict[str, Step]) -> None:
    """The lists say what the streams say, once the projection has caught up."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    wrong = dict.fromkeys(last, "is not listed")
    while wrong and loop.time() - began < CATCH_UP_S_MAX:
        listed = await _listed(ground)
        wrong = {match: line for match, step in last.items() if (line := _differs(listed.get(match), step))}
        if wrong:
            await asyncio.sleep(1.0)
    verdict.late_s = loop.time() - began
    verdict.wrong += [f"read models: {match} {line}" for match, line in wrong.items()]


def _differs(summary: dict[str, Any] | None, step: Step) -> str:
    if summary is None:
        return "is not listed"
    match = step.match
    said = summary["version"], summary["outcome"], [seat["player"] for seat in summary["seats"]]
    true = match.version, plain(match.outcome), [sitting.player for sitting in match.started.seats]
    return "" if said == true else f"is listed as {said}, and is {true}"


async def _listed(ground: Ground) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for status in ("running", "over"):
        token = ""
        while True:
            page = await ground.site.ask("GET", "/v1/matches", status=status, page_size=100, page_token=token)
            found |= {summary["match"]: summary for summary in page["matches"]}
            token = page["next"]
            if not token:
                break
    return found


def streams_of(commands: list[Told]) -> set[str]:
    """The matches that `commands` belong to."""
    return {stream_match(command.stream) for command in commands}
