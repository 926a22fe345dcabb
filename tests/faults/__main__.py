"""`python -m tests.faults`: plays under fire, prints a table, ends with 1 if anything was lost or wrong.

Half of the time Valkey flushes always, half every second. Afterwards each of the planted bugs must be
caught, for the reason that it is known by.
"""

import argparse
import asyncio
import logging
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import structlog

from deploy.local.system import Fsync
from tests.faults.caught import PLANT_SECONDS, caught
from tests.faults.fire import Plan, Report, fire_system, under_fire
from tests.faults.nemesis import calm, faults_with
from tests.faults.planted import PLANTS
from tests.faults.table import table, totals

FSYNCS: tuple[Fsync, ...] = ("always", "everysec")
PLANT_FAULTS = (
    "rules worker killed",
    "connections reset in mid-request",
    "rules worker stopped and continued",
)


def run(plan: Plan, folder: Path) -> Report:
    system = fire_system(folder, plan.fsync, plan.plant)
    system.start()
    try:
        return asyncio.run(under_fire(system, plan))
    finally:
        calm(system)
        system.stop()


def main() -> int:
    asked = _asked()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # so that what runs is calmed
    with tempfile.TemporaryDirectory(prefix="faults-", dir=asked.folder) as folder:
        reports = [_half(plan, Path(folder)) for plan in (_plans(asked) if asked.seconds else ())]
        failures = list(_failures(reports, asked)) if reports else []
        if reports:
            print(table(reports), flush=True)
        for line in failures:
            print(f"FAILED: {line}", flush=True)
        missed = _missed(asked, Path(folder)) if asked.plants else 0
    return int(bool(failures) or missed > 0)


def _half(plan: Plan, folder: Path) -> Report:
    print(f"seed {plan.seed}, appendfsync {plan.fsync}: {plan.seconds:.0f} s of faults", flush=True)
    report = run(plan, folder / plan.fsync)
    found = totals([report])
    print(f"{found.faults} faults, {found.acknowledged} acknowledged, {report.seconds:.0f} s", flush=True)
    return report


def _plans(asked: argparse.Namespace) -> Iterator[Plan]:
    for number, fsync in enumerate(FSYNCS):
        yield Plan(
            seed=asked.seed + number,
            seconds=asked.seconds / len(FSYNCS),
            fsync=fsync,
            clients=asked.clients,
            every_s=asked.every,
            faults=faults_with(fsync),
            rolls=asked.rolls,
            commands=-(-asked.at_least_commands // len(FSYNCS)),
        )


def _failures(reports: Sequence[Report], asked: argparse.Namespace) -> Iterator[str]:
    """Why the run as a whole has failed, as lines."""
    found = totals(reports)
    if any(not report.verdict.holds for report in reports):
        yield "something was lost, doubled or wrong"
    if found.failed:
        yield f"{found.failed} commands failed after one retry while services were rolled"
    if found.faults < asked.at_least_faults:
        yield f"{found.faults} faults were injected, not {asked.at_least_faults} as asked for"
    if found.acknowledged < asked.at_least_commands:
        yield f"{found.acknowledged} commands were acknowledged, not {asked.at_least_commands} as asked for"


def _missed(asked: argparse.Namespace, folder: Path) -> int:
    """How many runs with a planted bug the checker let pass."""
    missed = 0
    for number in range(asked.plant_rounds):
        for plant in PLANTS:
            plan = Plan(asked.seed + number, PLANT_SECONDS, "always", 24, 1.0, PLANT_FAULTS, plant=plant)
            verdict = caught(run(plan, folder / f"{plant} {number}"))
            print(verdict.line, flush=True)
            missed += not verdict.is_caught
    return missed


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="of faults, over both halves")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--clients", type=int, default=48)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between faults, on average")
    parser.add_argument("--rolls", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--plants", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--plant-rounds", type=int, default=1, help="runs of each planted bug")
    parser.add_argument("--at-least-faults", type=int, default=0, help="fail below that many")
    parser.add_argument("--at-least-commands", type=int, default=0, help="fail below so many acknowledged")
    parser.add_argument("--folder", default=None, help="where data and logs lie during the run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
