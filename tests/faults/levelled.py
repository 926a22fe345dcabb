"""The read models after a run: level with the streams, by themselves or, behind a lost tail, once rebuilt."""

import asyncio
from collections.abc import Mapping
from typing import Any

from waystation.projection.v1 import projection_pb2 as pb
from waystation.projection.v1.projection_pb2_grpc import ProjectionServiceStub

from services.core.replay import Step
from tests.e2e.checking import plain
from tests.faults.checker import Verdict
from tests.faults.playing import Ground

CATCH_UP_S_MAX = 90.0
REBUILD_S_MAX = 120.0


async def check_read_models(verdict: Verdict, ground: Ground, last: Mapping[str, Step], tails: bool) -> None:
    """The lists say what the streams say, once the projection has caught up.

    With `tails` the store may have lost what the projection has heard of. Such a match stays ahead of its
    stream until it goes on or the read models are rebuilt; so they are, and then nothing may differ.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    wrong = await _differences(ground, last, tails, verdict)
    verdict.late_s = loop.time() - began
    if verdict.ahead and not wrong:
        await _rebuild(ground)
        wrong = await _differences(ground, last, False, verdict)
    verdict.wrong += [f"read models: {match} {line}" for match, line in wrong.items()]


async def _differences(
    ground: Ground, last: Mapping[str, Step], tails: bool, verdict: Verdict
) -> dict[str, str]:
    """What still differs when patience ends; matches that are ahead are noted instead if `tails` allow it."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + CATCH_UP_S_MAX
    while True:
        listed = await _listed(ground)
        wrong = {match: line for match, step in last.items() if (line := _differs(listed.get(match), step))}
        ahead = {
            match
            for match in wrong
            if tails and match in listed and listed[match]["version"] >= last[match].match.version
        }
        behind = {match: line for match, line in wrong.items() if match not in ahead}
        if not behind or loop.time() > give_up:
            if tails:
                verdict.ahead = sorted(ahead)
            return behind
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
    await stub.Rebuild(pb.RebuildRequest(), timeout=REBUILD_S_MAX)
