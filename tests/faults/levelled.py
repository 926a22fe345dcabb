"""The read models after a run: level with the streams, by themselves or, behind a lost tail, once rebuilt."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from waystation.projection.v1 import projection_pb2 as pb
from waystation.projection.v1.projection_pb2_grpc import ProjectionServiceStub

from services.core.replay import Step
from tests.e2e.checking import plain
from tests.faults.checker import Verdict
from tests.faults.playing import Ground
from tests.faults.tails import Cut

CATCH_UP_S_MAX = 90.0
REBUILD_S_MAX = 120.0
TOLD_S_MAX = 60.0  # between an event's append and the read models' write, with NATS away meanwhile
STORED_S_MAX = 10.0  # between an event's time and its append


async def check_read_models(
    verdict: Verdict, ground: Ground, last: Mapping[str, Step], cuts: Sequence[Cut]
) -> None:
    """The lists say what the streams say, once the projection has caught up.

    A store that loses its tail may lose what the projection has heard of, or what it wrote about it. Such a
    match stays uneven until it goes on or the read models are rebuilt; so they are, and then nothing may
    differ.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    patience_s = CATCH_UP_S_MAX / 3 if cuts else CATCH_UP_S_MAX
    wrong = await _differences(ground, last, patience_s)
    verdict.late_s = loop.time() - began
    verdict.uneven = sorted(match for match in wrong if _was_cut(last[match], cuts))
    if verdict.uneven:
        await _rebuild(ground)
        again = await _differences(ground, last, CATCH_UP_S_MAX)
        wrong = {match: line for match, line in wrong.items() if match not in verdict.uneven} | again
    verdict.wrong += [f"read models: {match} {line}" for match, line in wrong.items()]


def _was_cut(step: Step, cuts: Sequence[Cut]) -> bool:
    """Whether the store lost a tail soon after the match's last event, while that was still being told."""
    at = time.monotonic() - (time.time() - step.event.at / 1000)
    return any(cut.since - TOLD_S_MAX < at < cut.at + STORED_S_MAX for cut in cuts)


async def _differences(ground: Ground, last: Mapping[str, Step], patience_s: float) -> dict[str, str]:
    """What still differs when patience ends."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + patience_s
    while True:
        listed = await _listed(ground)
        wrong = {match: line for match, step in last.items() if (line := _differs(listed.get(match), step))}
        if not wrong or loop.time() > give_up:
            return wrong
        await asyncio.sleep(1.0)


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


async def _rebuild(ground: Ground) -> None:
    stub = ground.channels.stub(ProjectionServiceStub, ground.directory.service("projection"))
    done = await stub.Rebuild(pb.RebuildRequest(), timeout=REBUILD_S_MAX)
    assert not done.damages, f"left out of the read models: {done.damages}"
