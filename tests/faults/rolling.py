"""Rolling restarts: every service is replaced, one process after another, while all clients play.

Nothing else goes wrong meanwhile, and so no command may fail after the one repetition that the API asks
clients for (docs/api.md, "Sending again").
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from services.kit.announce import LIVE, Member
from tests.e2e.site import Site
from tests.faults.nemesis import Nemesis

BACK_S_MAX = 60.0
# After a new process is there, until the next one goes: others look who is there every second.
LOOK_ROUND_S = 1.5
# What was sent just before a process goes may still be under way.
AHEAD_S = 0.5
# A PING that nobody disturbs takes a millisecond. Longer than this, the disk or the machine stood still.
STALL_S = 1.0
PING_EVERY_S = 0.1


class Window(NamedTuple):
    """From when to when; monotonic seconds."""

    began: float
    ended: float


class Rolled(NamedTuple):
    """A round of rolling restarts. `stalls`: when the store did not answer, though nobody touched it."""

    window: Window
    stalls: tuple[Window, ...] = ()


class Group(NamedTuple):
    """Processes that stand in for each other. `kind`, `name`: as they announce themselves."""

    fault: str
    prefix: str
    kind: str = ""
    name: str = ""


async def roll(nemesis: Nemesis, redis: Redis, site: Site) -> Rolled:
    """Replaces all processes of all services by SIGTERM and a new one. Findings go to `nemesis`."""
    began = time.monotonic()
    stalls: list[Window] = []
    watching = asyncio.create_task(_watch_store(redis, stalls))
    for group in _groups(nemesis):
        for name in [name for name in nemesis.system.services if name.startswith(group.prefix)]:
            await asyncio.sleep(LOOK_ROUND_S)
            async with nemesis.alone(group.fault, name):
                before = await _announced(redis, group)
                await nemesis.terminate(name)
                if not await _is_back(nemesis, redis, site, group, name, before):
                    nemesis.findings.append(f"{name} was not back {BACK_S_MAX:.0f} s after it was rolled")
    await asyncio.sleep(LOOK_ROUND_S)
    watching.cancel()
    return Rolled(Window(began - AHEAD_S, time.monotonic()), tuple(stalls))


async def _watch_store(redis: Redis, stalls: list[Window]) -> None:
    """Adds to `stalls` whenever Redis takes long to answer; until it is cancelled."""
    while True:
        began = time.monotonic()
        with suppress(RedisError):
            await redis.ping()
        if (ended := time.monotonic()) > began + STALL_S:
            stalls.append(Window(began, ended))
        await asyncio.sleep(PING_EVERY_S)


def _groups(nemesis: Nemesis) -> Iterator[Group]:
    for title in nemesis.system.workers:
        yield Group(f"rolled: rules of {title}", f"rules-{title}-", "title", title)
    yield Group("rolled: lobby", "lobby", "service", "lobby")
    yield Group("rolled: projection", "projection", "service", "projection")
    yield Group("rolled: gateways", "gateway")


async def _is_back(
    nemesis: Nemesis, redis: Redis, site: Site, group: Group, name: str, before: set[Member]
) -> bool:
    give_up = time.monotonic() + BACK_S_MAX
    while time.monotonic() < give_up:
        if group.kind:
            is_back = bool(await _announced(redis, group) - before)
        else:
            is_back = await _is_ready(site, nemesis.system.services[name].env["PORT"])
        if is_back:
            return True
        await asyncio.sleep(0.1)
    return False


async def _announced(redis: Redis, group: Group) -> set[Member]:
    """Those of the group that are there and mean to stay."""
    found: list[bytes] = await redis.zrange(LIVE, 0, -1)
    live = [msgspec.json.decode(raw, type=Member) for raw in found]
    return {member for member in live if (member.kind, member.name) == group[2:] and not member.draining}


async def _is_ready(site: Site, port: str) -> bool:
    assert site.client is not None
    try:
        async with site.client.get(f"http://127.0.0.1:{port}/readyz") as response:
            return response.status == 200
    except OSError:
        return False
