"""Runs as one table: of each server the median of its runs, with the least and the most."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct
from rich.table import Table

from bench.peers.servers import DURABLE


class Row(Struct, frozen=True, kw_only=True):
    """One run. `cpu_s` and `rss_mb`: of all processes of the server; memory at the end."""

    server: str
    moves: int
    seconds: float
    p50_ms: float
    p99_ms: float
    cpu_s: float
    rss_mb: float
    generator_cpu_s: float

    @property
    def moves_per_s(self) -> float:
        return self.moves / self.seconds

    @property
    def cpu_per_1000(self) -> float:
        """CPU seconds of all server processes for 1,000 moves."""
        return self.cpu_s / self.moves * 1000

    @property
    def generator_percent(self) -> float:
        """Of its core; near 100 it is the generator that limits moves/s and latency."""
        return 100 * self.generator_cpu_s / self.seconds


class Report(Struct, frozen=True, kw_only=True):
    """All runs in the order in which they were made. `load`: the plan's name."""

    commit: str
    machine: str
    versions: dict[str, str]
    load: str
    rows: list[Row]


_Figure = tuple[str, Callable[[Row], float], str]

_FIGURES: tuple[_Figure, ...] = (
    ("moves/s", lambda row: row.moves_per_s, ",.0f"),
    ("p50 ms", lambda row: row.p50_ms, ".1f"),
    ("p99 ms", lambda row: row.p99_ms, ".1f"),
    ("CPU", lambda row: row.cpu_per_1000, ".3f"),
    ("MB in all", lambda row: row.rss_mb, ".0f"),
    ("generator %", lambda row: row.generator_percent, ".0f"),
)


def lines(rows: Sequence[Row]) -> list[list[str]]:
    """The cells of each server, in the order of their first runs: name, durable or not, figures."""
    found = []
    for server in dict.fromkeys(row.server for row in rows):
        runs = [row for row in rows if row.server == server]
        figures = [_spread([figure(run) for run in runs], form) for _, figure, form in _FIGURES]
        found.append([server, DURABLE[server], *figures])
    return found


def _spread(values: list[float], form: str) -> str:
    """The median, and of several values the least and the most: "0.62 (0.60-0.71)"."""
    middle = format(median(values), form)
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}}-{max(values):{form}})"


def shown(report: Report) -> Table:
    table = Table(title=f"{report.load} at {report.commit}; CPU in seconds per 1,000 moves")
    table.add_column("server", no_wrap=True)
    table.add_column("durable")
    for name, _, _ in _FIGURES:
        table.add_column(name, justify="right")
    for cells in lines(report.rows):
        table.add_row(*cells)
    return table


def write(report: Report, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1))
