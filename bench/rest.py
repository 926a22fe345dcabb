"""What open matches take on which nothing happens: memory, and CPU while nobody moves."""

import asyncio
import subprocess
import sys
import time

import msgspec
import redis
from msgspec import Struct

from bench import measure
from bench.tables import Crowd
from deploy.local.system import ROOT, System
from services.kit.redis_store import RedisStore
from services.kit.store import LOBBY

REST_S = 10.0
QUIET_S_MAX = 120.0
SETTLE_S = 2.0  # the projection lets events gather for half a second
_LOOK_EVERY_S = 0.2
_EVER_MS = 2**52


class Rest(Struct, frozen=True, kw_only=True):
    """`redis_bytes`: a match; 0 without any. `cpu_s`, of `seconds` of rest, and `rss_mb`: by process."""

    title: str
    matches: int
    opening_s: float
    redis_bytes: float
    seconds: float
    cpu_s: dict[str, float]
    rss_mb: dict[str, float]


def measured(system: System, crowd: Crowd) -> Rest:
    """Opens the matches of `crowd`, waits until nothing is left to be done, and looks on for REST_S."""
    with redis.Redis.from_url(system.redis_url) as store:
        bytes_before, began = measure.redis_bytes(store), time.perf_counter()
        if crowd.matches:
            _open(crowd)
        opening_s = time.perf_counter() - began
        asyncio.run(_until_quiet(system.redis_url, crowd.title))
        grown = measure.redis_bytes(store) - bytes_before
        pids = measure.processes(system)
        before, began = measure.costs(pids), time.perf_counter()
        time.sleep(REST_S)
        after, seconds = measure.costs(pids), time.perf_counter() - began
    system.check()
    return Rest(
        title=crowd.title,
        matches=crowd.matches,
        opening_s=opening_s,
        redis_bytes=grown / crowd.matches if crowd.matches else 0.0,
        seconds=seconds,
        cpu_s=measure.spent(before, after),
        rss_mb={name: cost.rss_mb for name, cost in after.items()},
    )


def _open(crowd: Crowd) -> None:
    """In a process of its own, so that what it needs is in no server's figure."""
    wish = msgspec.json.encode(crowd).decode()
    done = subprocess.run(
        [sys.executable, "-m", "bench.tables", wish], cwd=ROOT, check=False, start_new_session=True
    )
    if done.returncode:
        raise SystemExit(f"{crowd.matches} idle matches could not be opened; see above")


async def _until_quiet(redis_url: str, title: str) -> None:
    """Until all events are on the bus and in the lists, and no append-only file is being rewritten."""
    store = await RedisStore.open(redis_url)
    try:
        async with asyncio.timeout(QUIET_S_MAX):
            while await _is_busy(store, title):  # noqa: ASYNC110 - no process tells when it is done
                await asyncio.sleep(_LOOK_EVERY_S)
    finally:
        await store.close()
    await asyncio.sleep(SETTLE_S)


async def _is_busy(store: RedisStore, title: str) -> bool:
    persistence = await store.link.call("INFO", "persistence")
    assert isinstance(persistence, bytes), "INFO answers with text"
    unsent = [await store.outbox_due(owner, _EVER_MS, 1) for owner in (title, LOBBY)]
    return any(unsent) or b"aof_rewrite_in_progress:1" in persistence
