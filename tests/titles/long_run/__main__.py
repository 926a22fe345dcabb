"""`python -m tests.titles.long_run`: ten thousand random matches of each title, over all its settings.

Every invariant that a title has is checked; see `checks`. Prints figures and the seed; a match that fails
is printed with the command that plays it again, and makes the exit code 1.
"""

import argparse
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from random import Random
from typing import NamedTuple

from tests.titles.found import SLUGS
from tests.titles.long_run.checks import check
from tests.titles.long_run.playing import played, setting_of

BATCH = 50  # matches that one process plays before it reports
FAULTS_SHOWN = 3  # of each title


class Batch(NamedTuple):
    """Some matches of a title, by their numbers."""

    slug: str
    seed: int
    numbers: range


class Figures(NamedTuple):
    """What came of them. `seconds`: of one process. `faults`: texts."""

    matches: int = 0
    plies: int = 0
    longest: int = 0
    seconds: float = 0.0
    faults: tuple[str, ...] = ()

    def plus(self, other: "Figures") -> "Figures":
        return Figures(
            self.matches + other.matches,
            self.plies + other.plies,
            max(self.longest, other.longest),
            self.seconds + other.seconds,
            (*self.faults, *other.faults),
        )


def run(batch: Batch) -> Figures:
    """Plays and checks a batch."""
    started = time.process_time()
    figures = Figures()
    for number in batch.numbers:
        figures = figures.plus(_match(batch, number))
    return figures._replace(seconds=time.process_time() - started)


def _match(batch: Batch, number: int) -> Figures:
    try:
        playout = played(batch.slug, batch.seed, number)
        check(playout, Random(f"{batch.seed} {number}"))
    except Exception:
        return Figures(matches=1, faults=(_reported(batch, number, traceback.format_exc()),))
    return Figures(1, len(playout.plies), len(playout.plies))


def _reported(batch: Batch, number: int, trace: str) -> str:
    again = f"python -m tests.titles.long_run --title {batch.slug} --seed {batch.seed} --only {number}"
    return f"{trace}{setting_of(batch.slug, number).name}\nagain: {again}"


def batches(slugs: list[str], seed: int, matches: int) -> Iterator[Batch]:
    for slug in slugs:
        for first in range(0, matches, BATCH):
            yield Batch(slug, seed, range(first, min(first + BATCH, matches)))


def main() -> int:
    asked = _asked()
    slugs = [asked.title] if asked.title else SLUGS
    print(f"seed {asked.seed}: {asked.matches} matches of each title", flush=True)
    todo = list(batches(slugs, asked.seed, asked.matches))
    if asked.only is not None:
        todo = [Batch(slug, asked.seed, range(asked.only, asked.only + 1)) for slug in slugs]
    totals = list(_by_title(todo))
    return 1 if any(figures.faults for figures in totals) else 0


def _by_title(todo: list[Batch]) -> Iterator[Figures]:
    """The figures of each title, printed as soon as its last batch is done."""
    left = Counter(batch.slug for batch in todo)
    totals = dict.fromkeys(left, Figures())
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(run, batch): batch.slug for batch in todo}
        for done in as_completed(running):
            slug = running[done]
            totals[slug] = totals[slug].plus(done.result())
            left[slug] -= 1
            if not left[slug]:
                _print(slug, totals[slug])
                yield totals[slug]


def _print(slug: str, figures: Figures) -> None:
    print(
        f"{slug}: {figures.matches} matches, {figures.plies} plies, {figures.seconds:.0f} s of CPU, "
        f"longest {figures.longest}, {len(figures.faults)} failed",
        flush=True,
    )
    for fault in figures.faults[:FAULTS_SHOWN]:
        print(fault, flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.titles.long_run", description=__doc__)
    parser.add_argument("--matches", type=int, default=10_000, help="of each title")
    parser.add_argument("--title", choices=SLUGS, help="this one only")
    parser.add_argument("--seed", type=int, default=1, help="chooses the matches")
    parser.add_argument("--only", type=int, help="play the match of this number again, and no other")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
