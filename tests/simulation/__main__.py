"""`python -m tests.simulation`: thousands of runs of the machine, then the bugs that it must find.

Every batch of runs has a seed of its own; a failing one is printed with the command that repeats it.
"""

import argparse
import re
import sys
import time
import traceback

from tests.simulation.planted import PLANTS
from tests.simulation.running import BATCH_RUNS, run_batch

SHOWN_EVERY = 4  # batches
PLANTED_RUNS_MAX = 250


def main() -> int:
    asked = _asked()
    failed = _simulate(asked.seed, asked.runs, asked.steps)
    if asked.plants and not failed:
        failed = _hunt(asked.seed, asked.steps)
    return int(failed)


def _simulate(seed: int, runs: int, steps: int) -> bool:
    """Whether a promise was broken; ends with the first one."""
    began, made, taken = time.perf_counter(), 0, 0
    for number, first in enumerate(range(0, runs, BATCH_RUNS)):
        wanted = min(runs - first, BATCH_RUNS)
        batch = run_batch(seed + number, wanted, steps)
        made, taken = made + batch.runs, taken + batch.steps
        if batch.error:
            traceback.print_exception(batch.error)
            print(f"seed {batch.seed}: {batch.fault}")
            command = f"--seed {batch.seed} --runs {wanted} --steps {steps} --no-plants"
            print(f'again: make test-simulation ARGS="{command}"', flush=True)
            return True
        if number % SHOWN_EVERY == 0:
            print(f"seed {batch.seed}: {made} runs, {taken} steps so far", flush=True)
    seconds = time.perf_counter() - began
    print(f"seed {seed}: {made} runs, {taken} steps in {seconds:.0f} s, every promise held", flush=True)
    return False


def _hunt(seed: int, steps: int) -> bool:
    """Whether a planted bug was missed, or found for something else than what it does."""
    missed = False
    for name, plant in PLANTS.items():
        batch = run_batch(seed, PLANTED_RUNS_MAX, steps, shrinks=False, bug=plant.bug)
        is_found = bool(re.search(plant.known_by, batch.fault))
        missed |= not is_found
        said = f"caught: {batch.fault}" if is_found else f"NOT CAUGHT {batch.fault}"
        print(f"planted {name!r}, seed {seed}, {batch.runs} runs, {batch.seconds:.1f} s: {said}", flush=True)
    return missed


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.simulation", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_500)
    parser.add_argument("--steps", type=int, default=50, help="of each run, at most")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="of the first batch")
    parser.add_argument("--plants", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
