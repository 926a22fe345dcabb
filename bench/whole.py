"""The whole system under load: real processes, real clients, and what a move costs in CPU.

`python -m bench.whole [--full | --scaling | --idle [N ...]] [--plan WORD] [--seconds S] [--unpinned]
[--profile PROCESS]`
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

import msgspec
import redis
from rich.console import Console

from bench import cores, measure, numbers, plans, rebuilt, replay, report, rest, stopping
from bench.load import Job, Played
from bench.plans import Plan
from bench.replay import History
from bench.report import Report, Result
from bench.rest import Rest
from bench.tables import Crowd
from deploy.local.servers import free_port
from deploy.local.system import ROOT, Fsync, System

UNLIMITED = {"RATE_PER_PLAYER": "0", "RATE_PER_ADDRESS": "0", "SOCKETS_PER_ADDRESS": "20000"}
# After the last answer, so that what is done behind the moves' backs is counted with them.
SETTLE_S = 0.5
MOVES_MIN = 2  # of which there are percentiles
RESULTS = ROOT / "data" / "bench"
IDLE_MAX = 1_000_000
STACKS, STACKS_S_MAX = "stacks", 10.0


FULL = f"every shape, transport and fsync mode of {' and '.join(plans.TITLES)}: 40 plans, some ten minutes"


def run(chosen: list[Plan], *, is_pinned: bool, profile: str = "", with_history: bool = True) -> Report:
    """Plays the plans, those that need the same system on one."""
    cores.stay_on(cores.SERVERS if is_pinned else None)
    generator_core = cores.GENERATOR if is_pinned else None
    results: list[Result] = []
    rests: list[Rest] = []
    histories: list[History] = []
    rebuilding = None
    for needs in dict.fromkeys(map(_needs, chosen)):
        ours = [plan for plan in chosen if _needs(plan) == needs]
        with _running(ours, profile) as system:
            if (number := ours[0].idle) is not None:
                crowd = Crowd(ours[0].title, number, system.host, system.ports, generator_core)
                rests.append(rest.measured(system, crowd))
            for plan in ours:
                results.append(played(system, plan, generator_core, profile))
                print(f"{plan.name} {plan.fsync}: {results[-1].cpu_per_1000:.3f}", file=sys.stderr)
            if with_history and needs == _needs(chosen[0]):
                histories = replay.measured(system.redis_url, sorted(system.workers))
                rebuilding = rebuilt.measured(system)
    return Report(
        commit=report.commit(),
        machine=report.machine(),
        versions=report.versions(),
        is_pinned=is_pinned,
        results=results,
        rests=rests,
        histories=histories,
        rebuilding=rebuilding,
    )


def _needs(plan: Plan) -> tuple[Fsync, int, int, int | None, bool]:
    """What tells apart the systems that plans are played on."""
    return plan.fsync, plan.workers, plan.gateways, plan.idle, plan.first > 0


@contextmanager
def _running(plans: list[Plan], profile: str) -> Iterator[System]:
    """The system that all of `plans` need."""
    titles, like = sorted({plan.title for plan in plans}), plans[0]
    ports = [free_port() for _ in range(like.gateways)]
    with tempfile.TemporaryDirectory(prefix="waystation-bench-") as data:
        env = UNLIMITED | (_profiling(profile, Path(data)) if profile else {})
        system = System(Path(data), dict.fromkeys(titles, like.workers), ports, fsync=like.fsync, env=env)
        system.start()
        try:
            yield system
        finally:
            system.stop()


def played(system: System, plan: Plan, core: int | None, profile: str) -> Result:
    """One plan on a running system. `core`: the generator's."""
    job = Job(plan, system.host, system.ports, system.redis_url, core)
    with _generator(job) as generator, redis.Redis.from_url(system.redis_url) as store:
        assert generator.stdin is not None
        assert generator.stdout is not None
        if generator.stdout.readline() != "ready\n":
            raise SystemExit("the generator could not open its matches; see above")
        time.sleep(SETTLE_S)
        pids = measure.processes(system)
        profiled = next(pid for name, pid in pids.items() if name.startswith(profile)) if profile else 0
        if profiled:
            os.kill(profiled, signal.SIGUSR1)
        before, bytes_before = measure.costs(pids), measure.redis_bytes(store)
        print("go", file=generator.stdin, flush=True)
        line = generator.stdout.readline()
        if not line:
            raise SystemExit("the generator gave up; see above")
        time.sleep(SETTLE_S)
        after, bytes_after = measure.costs(pids), measure.redis_bytes(store)
        if profiled:
            _write_stacks(profiled, system, profile, plan)
    system.check()
    found = msgspec.json.decode(line, type=Played)
    moves = len(found.latencies_ms)
    if moves < MOVES_MIN:
        raise SystemExit(f"{plan.name}: only {moves} moves counted in {plan.seconds} s, too few for figures")
    percentiles = quantiles(found.latencies_ms, n=100)
    return Result(
        plan=plan,
        moves=moves,
        seconds=found.seconds,
        p50_ms=percentiles[49],
        p99_ms=percentiles[98],
        late=found.late,
        cpu_s=measure.spent(before, after),
        rss_mb={name: cost.rss_mb for name, cost in after.items()},
        generator_cpu_s=found.cpu_s,
        redis_bytes=(bytes_after - bytes_before) / moves,
    )


@contextmanager
def _generator(job: Job) -> Iterator[subprocess.Popen[str]]:
    """The process that plays, killed when it is no longer needed."""
    generator = subprocess.Popen(
        [sys.executable, "-m", "bench.load", msgspec.json.encode(job).decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,  # Ctrl-C reaches the bench only
    )
    with generator:
        try:
            yield generator
        finally:
            generator.kill()


def _profiling(profile: str, data: Path) -> dict[str, str]:
    """What the environment tells bench/profiled, which runs first in every service."""
    return {
        "PYTHONPATH": str(ROOT / "bench" / "profiled"),
        "BENCH_PROFILE": profile,
        "BENCH_STACKS": str(data / STACKS),
    }


def _write_stacks(pid: int, system: System, profile: str, plan: Plan) -> None:
    """Ends the profile of a process, and keeps its stacks with the results."""
    os.kill(pid, signal.SIGUSR2)
    found = system.data / STACKS
    began = time.monotonic()
    while not found.exists():
        if time.monotonic() > began + STACKS_S_MAX:
            raise SystemExit(f"{profile} wrote no stacks")
        time.sleep(0.05)
    RESULTS.mkdir(parents=True, exist_ok=True)
    name = f"{profile} {plan.name} {plan.fsync}".replace(" ", "-").replace("/", "-")
    kept = RESULTS / f"{name}.stacks"
    shutil.move(found, kept)
    print(f"profile of {profile}: {kept}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--full", action="store_true", help=FULL)
    kinds.add_argument(
        "--scaling", action="store_true", help="more workers, gateways, open matches, longer matches"
    )
    kinds.add_argument(
        "--idle",
        type=numbers.whole(0, IDLE_MAX),
        nargs="*",
        metavar="N",
        help="beside N matches on which nothing happens",
    )
    parser.add_argument(
        "--plan", default="", metavar="WORD", help='only plans whose name holds this: "closed", "wayfare ws"'
    )
    parser.add_argument(
        "--seconds", type=numbers.seconds, default=5.0, help="the longest that a plan sends moves"
    )
    parser.add_argument("--unpinned", action="store_true", help="let servers and generator use all cores")
    parser.add_argument(
        "--profile",
        default="",
        metavar="PROCESS",
        help="where its CPU time goes: gateway, rules-wayfare, projection",
    )
    asked = parser.parse_args()
    chosen = plans.chosen(_plans(asked), asked.plan)
    if not chosen:
        raise SystemExit(f"no plan has {asked.plan!r} in its name")
    known = ["gateway", "lobby", "projection", *{f"rules-{plan.title}" for plan in chosen}]
    if asked.profile and asked.profile not in known:
        raise SystemExit(f"no process {asked.profile!r} to profile, only {', '.join(sorted(known))}")
    stopping.tidies_up(parser.prog)
    # Reading very many matches again, of one event each, would say little and take long.
    with_history = asked.idle is None
    made = run(chosen, is_pinned=not asked.unpinned, profile=asked.profile, with_history=with_history)
    kept = RESULTS / f"{_stem(asked)}.json"
    report.write(made, kept)
    report.show(made, Console(width=180))
    print(f"figures: {kept}", file=sys.stderr)


def _stem(asked: argparse.Namespace) -> str:
    """Of the file for the figures: each kind of run, and each choice of plans, has its own."""
    idle = asked.idle is not None
    kind = "full" if asked.full else "scaling" if asked.scaling else "idle" if idle else "whole"
    word = re.sub(r"\W+", "-", asked.plan).strip("-")
    return f"{kind}-{word}" if word else kind


def _plans(asked: argparse.Namespace) -> list[Plan]:
    if asked.idle is not None:
        return plans.idle(asked.seconds, asked.idle or plans.IDLE)
    kind = plans.full if asked.full else plans.scaling if asked.scaling else plans.quick
    return kind(asked.seconds)


if __name__ == "__main__":
    main()
