"""`python -m tests.soak`: makes very many matches through the gateway; ends with 1 if a process grows.

Every tenth of the way it prints matches a second and what each process takes. Afterwards nobody asks for the
matches any more, and the workers must forget all of them.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

import uvloop
from redis.asyncio import Redis

from deploy.local.system import shipped_titles
from services.kit import plain_redis
from tests.soak.making import MOVES, PLAYED_EVERY, Makers
from tests.soak.memory import LEAK_BYTES, WARM_MATCHES, Sample, TooFew, growth, leaks
from tests.soak.watched import SERVERS, Watched, watched

STEPS = 20
FORGETTING_S_MAX = 300.0


async def soak(system: Watched, matches: int) -> list[Sample]:
    """Makes the matches; what each process took, from the start on."""
    makers = Makers(system.host, system.ports[0], list(system.workers))
    await makers.open()
    redis = plain_redis.connect(system.redis_url)
    at_first = await _used(redis)
    samples = [system.sample(0)]
    for step in range(1, STEPS + 1):
        began = time.perf_counter()
        await makers.make(matches * step // STEPS - makers.made)
        samples.append(system.sample(makers.made))
        rate = (samples[-1].made - samples[-2].made) / (time.perf_counter() - began)
        if step % 2 == 0:
            _tell(samples[-1], rate)
        system.check()
    print(f"{makers.moves} moves, {makers.repeated} requests repeated")
    print(f"Redis: {(await _used(redis) - at_first) / matches:.0f} bytes a match")
    makers.close()
    await redis.aclose()
    return samples


async def forgotten(system: Watched) -> bool:
    """Whether every worker gives up the matches that nobody asks for any more."""
    cached = {name: system.gauge(name, "matches_active_bytes") for name in system.workers_named}
    began = time.perf_counter()
    try:
        async with asyncio.timeout(FORGETTING_S_MAX):
            while any(system.gauge(name, "matches_active") for name in cached):  # noqa: ASYNC110
                await asyncio.sleep(1)
    except TimeoutError:
        print(f"NOT FORGOTTEN after {FORGETTING_S_MAX:.0f} s")
        return False
    after = {name: system.gauge(name, "matches_active_bytes") for name in cached}
    print(
        f"dormant: {sum(cached.values()):.0f} bytes of matches in workers became {sum(after.values()):.0f}",
        end="",
    )
    print(f" within {time.perf_counter() - began:.0f} s")
    return not any(after.values())


async def _used(redis: Redis) -> int:
    return int((await redis.info("memory"))["used_memory"])


def _tell(sample: Sample, rate: float) -> None:
    taken = ", ".join(f"{name} {rss / 1e6:.1f}" for name, rss in sample.rss.items())
    print(f"{sample.made:7} matches, {rate:4.0f}/s, RSS in MB: {taken}", flush=True)


def _judged(samples: list[Sample], system: Watched) -> bool:
    """Prints how each process grew; False if one leaks."""
    shares = system.shares()
    leaking = leaks(samples, shares)
    for name, share in shares.items():
        grown = growth(samples, name, share)
        verdict = f"LEAKS: more than {LEAK_BYTES}" if name in leaking else "flat"
        print(f"  {name:24} {grown:7.1f} bytes a match of its own: {verdict}")
    print(f"  ({', '.join(SERVERS)} keep every match, and are not judged)")
    return not leaking


async def _run(system: Watched, matches: int) -> bool:
    samples = await soak(system, matches)
    try:
        flat = _judged(samples, system)
    except TooFew as reason:
        print(reason)
        flat = False
    return await forgotten(system) and flat


def main() -> int:
    asked = _asked()
    with tempfile.TemporaryDirectory(prefix="soak-", dir=asked.folder) as folder:
        system = watched(Path(folder), asked.titles, asked.leak)
        system.start()
        print(f"{asked.matches} matches of {len(system.workers)} titles through one gateway; ", end="")
        print(f"of one in {PLAYED_EVERY} the first {MOVES} moves", flush=True)
        began = time.perf_counter()
        try:
            holds = uvloop.run(_run(system, asked.matches))
        finally:
            system.stop()
        print(f"{time.perf_counter() - began:.0f} s")
    return int(not holds)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.soak", description=__doc__)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--titles", nargs="+", choices=shipped_titles(), default=shipped_titles())
    parser.add_argument("--leak", action="store_true", help="plant a leak, which must be found")
    parser.add_argument("--folder", default=None, help="where data and logs lie during the run")
    asked = parser.parse_args()
    if asked.matches < (fewest := 2 * WARM_MATCHES * len(asked.titles)):
        parser.error(f"fewer than {fewest} matches of {len(asked.titles)} titles tell nothing about memory")
    return asked


if __name__ == "__main__":
    sys.exit(main())
