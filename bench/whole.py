"""The whole system under load: real processes, real clients, and what a move costs in CPU.

`python -m bench.whole [--full] [--plan WORD] [--seconds S] [--unpinned] [--profile PROCESS]`
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

import msgspec
import redis
from rich.console import Console

from bench import measure, plans, replay, report
from bench.load import Job, Played
from bench.plans import Plan
from bench.report import Report, Result
from deploy.local.servers import free_port
from deploy.local.system import ROOT, System

UNLIMITED = {"RATE_PER_PLAYER": "0", "RATE_PER_ADDRESS": "0", "SOCKETS_PER_ADDRESS": "20000"}
# After the last answer, so that what is done behind the moves' backs is counted with them.
SETTLE_S = 0.5
RESULTS = ROOT / "data" / "bench"


def run(chosen: list[Plan], *, is_pinned: bool, profile: str = "", with_history: bool = True) -> Report:
    """Plays the plans, those of one fsync mode on one system."""
    if is_pinned:
        os.sched_setaffinity(0, {0})
    results, histories = [], []
    for fsync in dict.fromkeys(plan.fsync for plan in chosen):
        ours = [plan for plan in chosen if plan.fsync == fsync]
        titles = sorted({plan.title for plan in ours})
        with tempfile.TemporaryDirectory(prefix="waystation-bench-") as data:
            workers = dict.fromkeys(titles, 1)
            system = System(Path(data), workers, [free_port()], fsync=fsync, env=UNLIMITED)
            system.start()
            try:
                for plan in ours:
                    results.append(played(system, plan, is_pinned, profile))
                    print(f"{plan.name} {fsync}: {results[-1].cpu_per_1000:.3f}", file=sys.stderr)
                if with_history and fsync == chosen[0].fsync:
                    histories = replay.measured(system.redis_url, titles)
            finally:
                system.stop()
    return Report(
        commit=report.commit(),
        machine=report.machine(),
        versions=report.versions(),
        is_pinned=is_pinned,
        results=results,
        histories=histories,
    )


def played(system: System, plan: Plan, is_pinned: bool, profile: str) -> Result:
    """One plan on a running system."""
    job = Job(plan, system.host, system.ports[0], system.redis_url)
    generator = _generator(job, core=1 if is_pinned else None)
    with generator, redis.Redis.from_url(system.redis_url) as store:
        assert generator.stdin is not None
        assert generator.stdout is not None
        if generator.stdout.readline() != "ready\n":
            raise SystemExit("the generator could not open its matches; see above")
        time.sleep(SETTLE_S)
        pids = measure.processes(system)
        spy = _profiled(pids, profile, plan) if profile else None
        before, bytes_before = measure.costs(pids), _used(store)
        print("go", file=generator.stdin, flush=True)
        line = generator.stdout.readline()
        if not line:
            raise SystemExit("the generator gave up; see above")
        time.sleep(SETTLE_S)
        after, bytes_after = measure.costs(pids), _used(store)
        if spy is not None:
            spy.wait(60)
    system.check()
    found = msgspec.json.decode(line, type=Played)
    percentiles = quantiles(found.latencies_ms, n=100)
    moves = len(found.latencies_ms)
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


def _generator(job: Job, core: int | None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench.load", msgspec.json.encode(job).decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=(lambda: os.sched_setaffinity(0, {core})) if core is not None else None,
    )


def _profiled(pids: dict[str, int], name: str, plan: Plan) -> subprocess.Popen[bytes]:
    """py-spy on one process while the plan is played; raw stacks, one a line with its samples."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    pid = next(pid for process, pid in pids.items() if process.startswith(name))
    path = RESULTS / f"{name}-{plan.name.replace(' ', '-').replace('/', '-')}.stacks"
    print(f"profile of {name}: {path}", file=sys.stderr)
    spy = Path(sys.executable).with_name("py-spy")
    seconds = str(max(1, int(plan.seconds)))
    asked = ("record", "--pid", str(pid), "--duration", seconds, "--rate", "400", "--gil", "--format", "raw")
    return subprocess.Popen([str(spy), *asked, "--output", str(path)], stdout=subprocess.DEVNULL)


def _used(store: redis.Redis) -> int:
    return int(store.info("memory")["used_memory"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-whole", description=__doc__)
    parser.add_argument("--full", action="store_true", help="every shape, title, transport and fsync mode")
    parser.add_argument("--plan", default="", help='only plans whose name holds this: "closed", "wayfare ws"')
    parser.add_argument("--seconds", type=float, default=5.0, help="the longest that a plan sends moves")
    parser.add_argument("--unpinned", action="store_true", help="let servers and generator use all cores")
    parser.add_argument("--profile", default="", help="record this process by py-spy: gateway, rules-wayfare")
    asked = parser.parse_args()
    of_all = plans.full(asked.seconds) if asked.full else plans.quick(asked.seconds)
    chosen = plans.chosen(of_all, asked.plan)
    if not chosen:
        raise SystemExit(f"no plan has {asked.plan!r} in its name")
    made = run(chosen, is_pinned=not asked.unpinned, profile=asked.profile)
    report.write(made, RESULTS / "whole.json")
    report.show(made, Console(width=150))


if __name__ == "__main__":
    main()
