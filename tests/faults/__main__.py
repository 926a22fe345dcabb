"""`python -m tests.faults`: plays under fire, prints a table, ends with 1 if anything was lost or wrong.

Half of the time Valkey flushes always, the other half every second; `--plants` shows last that each of the
planted bugs is caught.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from deploy.local.system import Fsync
from tests.faults.fire import Plan, Report, fire_system, under_fire
from tests.faults.planted import PLANTS
from tests.faults.table import table

FSYNCS: tuple[Fsync, ...] = ("always", "everysec")
PLANT_SECONDS = 12.0
PLANT_FAULTS = ("rules worker killed", "connections reset", "rules worker stopped and continued")


def run(plan: Plan, folder: Path) -> Report:
    system = fire_system(folder, plan.fsync, plan.plant)
    system.start()
    try:
        return asyncio.run(under_fire(system, plan))
    finally:
        system.stop()


def main() -> int:
    asked = _asked()
    failed = False
    with tempfile.TemporaryDirectory(prefix="faults-", dir=asked.folder) as folder:
        for number, fsync in enumerate(FSYNCS):
            plan = Plan(asked.seed + number, asked.seconds / 2, fsync, asked.clients, asked.every)
            print(f"seed {plan.seed}, appendfsync {fsync}", flush=True)
            report = run(plan, Path(folder) / fsync)
            print(table(report), flush=True)
            failed |= not report.verdict.holds
        for plant in PLANTS if asked.plants else ():
            plan = Plan(asked.seed, PLANT_SECONDS, "always", 24, 1.0, PLANT_FAULTS, plant)
            report = run(plan, Path(folder) / plant)
            print(caught(report), flush=True)
            failed |= report.verdict.holds
    return int(failed)


def caught(report: Report) -> str:
    """What the checker found of a planted bug."""
    verdict = report.verdict
    found = (
        f"{len(verdict.lost)} lost, {len(verdict.doubled)} doubled, {len(verdict.wrong)} wrong"
        if not verdict.holds
        else "NOT CAUGHT"
    )
    first = f": {verdict.wrong[0]}" if verdict.wrong else ""
    return f"planted {report.plan.plant!r} (seed {report.plan.seed}): {found}{first}"


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="of faults, over both halves")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--clients", type=int, default=48)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between faults, on average")
    parser.add_argument("--plants", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--folder", default=None, help="where data and logs lie during the run")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
