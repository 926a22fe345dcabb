"""Waystation and its peers side by side: one shape of load, one machine, in turn within minutes.

`python -m bench.peers [--runs N] [--seconds S]`
"""

import argparse
import sys

from rich.console import Console

from bench import numbers, report, stopping
from bench.peers import installed, played, table
from bench.peers.servers import PEERS
from bench.peers.table import Report, Row
from bench.plans import Plan
from bench.whole import RESULTS

RUNS_MAX = 100


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-peers", description=__doc__)
    parser.add_argument(
        "--runs", type=numbers.whole(1, RUNS_MAX), default=3, help="how often each server is measured"
    )
    parser.add_argument(
        "--seconds", type=numbers.seconds, default=5.0, help="the longest that a run sends moves"
    )
    asked = parser.parse_args()
    stopping.tidies_up(parser.prog)
    plan = Plan(title="make_way", seconds=asked.seconds)
    try:
        installed.check_node()
        installed.install()
        rows = _played(plan, asked.runs)
    except (installed.Missing, played.Failed) as failure:
        raise SystemExit(f"make bench-peers: {failure}") from failure
    made = Report(
        commit=report.commit(),
        machine=report.machine(),
        versions=report.versions() | installed.versions(),
        load=plan.name,
        rows=rows,
    )
    table.write(made, RESULTS / "peers.json")
    Console(width=160).print(table.shown(made))


def _played(plan: Plan, runs: int) -> list[Row]:
    """Every server in turn, `runs` times over, so that neighbours on the machine disturb all alike."""
    rows = []
    for _ in range(runs):
        rows.append(played.waystation(plan))
        for peer in PEERS:
            rows.append(played.other(peer, plan))
            print(f"{peer.name}: {rows[-1].cpu_per_1000:.3f}", file=sys.stderr)
    return rows


if __name__ == "__main__":
    main()
