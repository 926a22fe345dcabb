"""A profile's stacks as a table: where a process spends its CPU time.

`python -m bench.stacks FILE ... [--lines N]` prints a table for each file.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import numbers

LINES_MAX = 10_000


class Unreadable(Exception):
    """A file that holds no stacks; the message is one line for a person."""


def read(path: Path) -> list[tuple[list[str], int]]:
    """Each stack, outermost frame first, with its samples. Raises Unreadable."""
    found = []
    try:
        for line in path.read_text().splitlines():
            stack, _, samples = line.rpartition(" ")
            found.append((stack.split(";"), int(samples)))
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise Unreadable(f"{path} holds no stacks, as `make bench` writes them with --profile") from error
    if not found:
        raise Unreadable(f"{path} holds no samples")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.stacks", description=__doc__)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+")
    parser.add_argument(
        "--lines", type=numbers.whole(1, LINES_MAX), default=40, help="how many functions a table has"
    )
    asked = parser.parse_args()
    console = Console(width=110)
    try:
        for path in asked.files:
            console.print(_table(path, asked.lines))
    except Unreadable as unreadable:
        print(f"bench.stacks: {unreadable}", file=sys.stderr)
        raise SystemExit(2) from unreadable


def _table(path: Path, lines: int) -> Table:
    """The functions of one profile in which most of its samples lie."""
    own: Counter[str] = Counter()
    within: Counter[str] = Counter()
    for stack, samples in read(path):
        own[stack[-1]] += samples
        for frame in set(stack):
            within[frame] += samples
    table = Table(title=f"{path.stem}: {own.total()} samples of CPU time, in per cent")
    for column in ("with what it calls", "itself"):
        table.add_column(column, justify="right")
    table.add_column("function")
    for frame, samples in within.most_common(lines):
        shares = [f"{100 * each / own.total():.1f}" for each in (samples, own[frame])]
        table.add_row(*shares, frame)
    return table


if __name__ == "__main__":
    main()
