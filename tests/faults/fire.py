"""The system under fire: real processes, many clients, a nemesis, and the checker's verdict afterwards."""

import asyncio
import itertools
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import aiohttp
from redis.asyncio import Redis

from deploy.local.servers import free_port
from deploy.local.system import Fsync, Service, System, shipped_titles
from services.kit import plain_redis
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.redis_store import RedisStore
from tests.e2e.serving import UNLIMITED
from tests.e2e.site import Site
from tests.faults.checker import Verdict, check
from tests.faults.history import Fate, History
from tests.faults.levelled import check_read_models
from tests.faults.nemesis import Injected, Nemesis, faults_with
from tests.faults.playing import Client, Ground
from tests.faults.proxy import Proxy
from tests.faults.rolling import Rolled, roll

VIAS = ("http", "socket", "http", "duel")
WARM_S = 3.0  # of play before anything goes wrong
REST_S = 3.0  # of unhindered play after the last fault, to see that it goes on
PLAY_ON_S_MAX = 300.0  # for as many commands as were asked for, on a machine that is slow
STOP_S_MAX = 90.0


class Plan(NamedTuple):
    """What is to happen. `faults`: names in FAULTS; each comes after about `every_s` from the one before.

    `rolls`: whether all services are rolled first, with nothing else going wrong. `plant`: a bug to carry.
    `commands`: play goes on after the last fault until so many are acknowledged.
    """

    seed: int
    seconds: float
    fsync: Fsync = "always"
    clients: int = 48
    every_s: float = 2.0
    faults: Sequence[str] = faults_with("always")
    rolls: bool = False
    plant: str = ""
    commands: int = 0


@dataclass
class FireSystem(System):
    """Two of everything. `plant`: the bug that rules workers carry; see `planted`."""

    plant: str = ""

    def _planned(self) -> list[Service]:
        return [
            self._service("lobby-2", "services.lobby"),
            self._service("projection-2", "services.projection"),
            *super()._planned(),
        ]

    def _service(self, name: str, module: str, **env: str) -> Service:
        if self.plant and module == "services.rules":
            return super()._service(name, "tests.faults.planted", PLANT=self.plant, **env)
        return super()._service(name, module, **env)


@dataclass
class Report:
    """`again`: services that found no store when they started, and were started once more."""

    plan: Plan
    history: History
    verdict: Verdict
    injected: list[Injected] = field(default_factory=list)
    rolled: list[Rolled] = field(default_factory=list)
    again: int = 0
    seconds: float = 0.0


def fire_system(data: Path, fsync: Fsync, plant: str = "") -> FireSystem:
    """All titles, two workers each, on free ports; not yet started."""
    return FireSystem(
        data=data,
        workers=dict.fromkeys(shipped_titles(), 2),
        ports=[free_port(), free_port()],
        fsync=fsync,
        env={**UNLIMITED, "LOG_LEVEL": "WARNING"},
        plant=plant,
    )


async def under_fire(system: FireSystem, plan: Plan) -> Report:
    """Plays on a started system while faults are injected; heals it; checks what is left."""
    began = time.monotonic()
    async with AsyncExitStack() as parts:
        redis = plain_redis.connect(system.redis_url)
        parts.push_async_callback(redis.aclose)
        ground, proxies = await _ground(system, redis, parts)
        clients = [
            Client(n, title, VIAS[n // len(system.workers) % len(VIAS)], ground, str(plan.seed))
            for n, title in zip(range(plan.clients), itertools.cycle(system.workers), strict=False)
        ]
        playing = [asyncio.create_task(client.keep_playing()) for client in clients]
        nemesis = Nemesis(system, proxies, random.Random(plan.seed), plan.faults, plan.every_s)
        await asyncio.sleep(min(WARM_S, plan.seconds / 4))
        rolled = [await roll(nemesis, redis, ground.site)] if plan.rolls else []
        await nemesis.rage(plan.seconds)
        await asyncio.sleep(REST_S)
        await _played_on(ground.history, plan.commands)
        await _stopped(ground, playing)
        verdict, last = await check(ground, nemesis.cuts, nemesis.findings)
        if verdict.holds or not plan.plant:
            await check_read_models(verdict, ground, last, nemesis.cuts)
    seconds = time.monotonic() - began
    return Report(plan, ground.history, verdict, nemesis.injected, rolled, nemesis.again, seconds)


async def _played_on(history: History, commands: int) -> None:
    """Returns once so many commands are acknowledged, or after PLAY_ON_S_MAX."""
    for _ in range(round(PLAY_ON_S_MAX)):
        if sum(1 for _ in history.of(Fate.OK)) >= commands:
            return
        await asyncio.sleep(1)


async def _stopped(ground: Ground, playing: Sequence[asyncio.Task[None]]) -> None:
    """Lets everybody finish what is under way. Raises what a client did not expect."""
    ground.stop.set()
    done, late = await asyncio.wait(playing, timeout=STOP_S_MAX)
    for task in late:
        task.cancel()
    for task in done:
        task.result()


async def _ground(system: FireSystem, redis: "Redis", parts: AsyncExitStack) -> tuple[Ground, list[Proxy]]:
    proxies = [Proxy(port) for port in system.ports]
    for proxy in proxies:
        await proxy.start()
        parts.push_async_callback(proxy.stop)
    urls = [proxy.url for proxy in proxies]
    site = await parts.enter_async_context(Site(urls))
    # A session's own limit of 100 connections would make clients wait for each other's sockets.
    client = await parts.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    store = await RedisStore.open(system.redis_url)
    parts.push_async_callback(store.close)
    directory = Directory(redis)
    await directory.start()
    parts.push_async_callback(directory.stop)
    channels = Channels()
    parts.push_async_callback(channels.close)
    return Ground(site, client, urls, store, directory, channels, History(), asyncio.Event(), {}), proxies
