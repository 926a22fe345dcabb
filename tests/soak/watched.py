"""A system whose processes can be asked for their metrics, and whose workers may be made to leak."""

import re
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from bench.measure import processes
from deploy.local.servers import free_port
from deploy.local.system import Service, System
from tests.e2e.serving import UNLIMITED
from tests.soak.memory import Sample

# Small enough to be full soon; how the caches are bounded does not depend on their size.
CACHES = {"CACHED_MATCHES": "1000", "CACHED_TABLES": "1000", "CACHED_PLACES": "1000", "CACHED_S": "60"}
SERVERS = ("valkey", "nats")
_PAGE = 4096


@dataclass
class Watched(System):
    """`leaking`: run workers with a planted leak."""

    leaking: bool = False

    def _service(self, name: str, module: str, **env: str) -> Service:
        if self.leaking and module == "services.rules":
            module = "tests.soak.leaking"
        return super()._service(name, module, METRICS_PORT=str(free_port()), **env)

    def sample(self, made: int) -> Sample:
        return Sample(made, {name: _rss(pid) for name, pid in processes(self).items()})

    def gauge(self, name: str, metric: str) -> float:
        """The sum of a metric of one process."""
        url = f"http://127.0.0.1:{self.services[name].env['METRICS_PORT']}/metrics"
        with urllib.request.urlopen(url, timeout=30) as answer:
            text = answer.read().decode()
        return sum(map(float, re.findall(rf"^{metric}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)))

    @property
    def workers_named(self) -> list[str]:
        return [name for name in self.services if name.startswith("rules-")]

    def shares(self) -> dict[str, float]:
        """Of all matches, how many each of our processes has to do with."""
        titles = len(self.workers)
        return {name: 1 / titles if name.startswith("rules-") else 1.0 for name in self.services}


def watched(folder: Path, titles: list[str], leaking: bool) -> Watched:
    """One worker of each title, one of everything else."""
    return Watched(
        data=folder,
        workers=dict.fromkeys(titles, 1),
        ports=[free_port()],
        env={**UNLIMITED, **CACHES, "LOG_LEVEL": "WARNING", "OPEN_TABLES_PER_PLAYER": "1000"},
        leaking=leaking,
    )


def _rss(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * _PAGE
