"""Whether a move has become dearer: a short closed loop against the stored baseline. Warns, never fails.

`python -m bench.check [--store]`
"""

import argparse
import sys
from pathlib import Path

import msgspec

from bench import report, stopping, whole
from bench.plans import Plan

BASELINE = Path(__file__).with_name("baseline.json")
PLANS = [Plan(title="make_way", seconds=4.0), Plan(title="wayfare", seconds=4.0)]
# Neighbours on a shared machine move CPU figures by up to a quarter.
MARGIN = 1.5


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """`cpu_per_1000`: seconds by plan, as measured at `commit` on `machine`."""

    commit: str
    machine: str
    cpu_per_1000: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-check", description=__doc__)
    parser.add_argument("--store", action="store_true", help="keep what is measured as the new baseline")
    asked = parser.parse_args()
    stopping.tidies_up(parser.prog)
    measured = whole.run(PLANS, is_pinned=True, with_history=False)
    found = {result.plan.name: round(result.cpu_per_1000, 3) for result in measured.results}
    if asked.store:
        stored = Baseline(commit=report.commit(), machine=report.machine(), cpu_per_1000=found)
        BASELINE.write_bytes(msgspec.json.format(msgspec.json.encode(stored), indent=2) + b"\n")
        return
    baseline = msgspec.json.decode(BASELINE.read_bytes(), type=Baseline)
    for name, cpu in found.items():
        print(_judged(name, cpu, baseline), file=sys.stderr)


def _judged(name: str, cpu: float, baseline: Baseline) -> str:
    """One line: what a plan costs, what it did, and whether that is to be looked at."""
    before = baseline.cpu_per_1000.get(name)
    if before is None:
        return f"{name}: {cpu:.3f} s of CPU per 1,000 moves; the baseline does not know this plan"
    measured = f"{name}: {cpu:.3f} s of CPU per 1,000 moves, {before:.3f} at {baseline.commit}"
    times = f"{cpu / before:.2f} times the baseline"
    if cpu > before * MARGIN:
        return f"{measured}: warning: {times}, more than the margin of {MARGIN}"
    return f"{measured}: {times}, within the margin of {MARGIN}"


if __name__ == "__main__":
    main()
