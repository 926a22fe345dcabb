"""One system for this folder, watched in every way: traces, a line for each request, metrics."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local.servers import free_port
from deploy.local.system import Service, System
from tests.watching.collector import Collector, collecting

PATIENCE_S = 60.0
UNLIMITED = {"RATE_PER_PLAYER": "0", "RATE_PER_ADDRESS": "0", "ADMIN_TOKEN": "an operator's token"}


class Watched(System):
    """Every process serves its metrics on a port of its own."""

    def _service(self, name: str, module: str, **env: str) -> Service:
        return super()._service(name, module, METRICS_PORT=str(free_port()), **env)

    def metrics(self, name: str) -> str:
        port = self.services[name].env["METRICS_PORT"]
        return httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S).text

    def lines(self, name: str) -> list[dict[str, Any]]:
        """What the process has logged so far."""
        log: Path = self.data / "logs" / f"{name}.log"
        written = log.read_bytes().splitlines(keepends=True)
        return [json.loads(line) for line in written if line.startswith(b"{") and line.endswith(b"}\n")]

    def served(self, name: str) -> list[dict[str, Any]]:
        """Its lines of requests."""
        return [line for line in self.lines(name) if line["event"] == "request_served"]


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Watched]:
    system = Watched(
        data=tmp_path_factory.mktemp("watched"),
        workers={"make_way": 1},
        ports=[free_port()],
        env={
            **UNLIMITED,
            "LOG_REQUESTS": "all",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_TRACES_SAMPLER": "parentbased_always_on",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        },
    )
    system.start()
    yield system
    system.stop()


@pytest.fixture
def client(watched: Watched) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=watched.url, timeout=PATIENCE_S) as client:
        yield client
