"""A profile's stacks as a table: where a process spends its CPU time.

`python -m bench.stacks FILE [--lines N]`
"""

import argparse
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table


def read(path: Path) -> list[tuple[list[str], int]]:
    """Each stack, outermost frame first, with its samples."""
    found = []
    for line in path.read_text().splitlines():
        stack, _, samples = line.rpartition(" ")
        found.append((stack.split(";"), int(samples)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.stacks", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=40)
    asked = parser.parse_args()
    own: Counter[str] = Counter()
    within: Counter[str] = Counter()
    for stack, samples in read(asked.file):
        own[stack[-1]] += samples
        for frame in set(stack):
            within[frame] += samples
    table = Table(title=f"{own.total()} samples of CPU time, in per cent")
    for column in ("with what it calls", "itself"):
        table.add_column(column, justify="right")
    table.add_column("function")
    for frame, samples in within.most_common(asked.lines):
        shares = [f"{100 * each / own.total():.1f}" for each in (samples, own[frame])]
        table.add_row(*shares, frame)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
