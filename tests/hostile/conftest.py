"""A small system with the limits that strangers meet, for clients who mean harm."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis

from deploy.local.servers import free_port
from deploy.local.system import Service, System
from services.kit import plain_redis
from tests.e2e.serving import serving, site, store

READY_S_MAX = 60.0

__all__ = ["logs", "pids", "redis", "site", "store", "system"]


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """One worker of one title with hidden hands; logs at their most talkative."""
    with serving(tmp_path_factory.mktemp("system"), {"make_way": 1}, LOG_LEVEL="DEBUG") as running:
        yield running
        for name, text in logs(running).items():
            faults = [line for line in text.splitlines() if "Traceback" in line or '"BUG"' in line]
            assert not faults, (name, faults[0])


@pytest.fixture
async def redis(system: System) -> AsyncIterator[Redis]:
    client = plain_redis.connect(system.redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def start_gateway(system: System) -> Iterator[Callable[..., str]]:
    """Starts one more gateway with settings of its own; its address."""
    started: list[Service] = []

    def start(**env: str) -> str:
        port = free_port()
        given = {**system.services["gateway-1"].env, **env, "PORT": str(port)}
        service = Service(f"gateway-{port}", "gateway", given, system.data / "logs" / f"gateway-{port}.log")
        service.start()
        started.append(service)
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + READY_S_MAX
        while not _is_ready(url):
            assert service.exit_code is None, service.ending
            assert time.monotonic() < deadline, f"{service.name} is not ready"
            time.sleep(0.1)
        return url

    yield start
    for service in started:
        service.kill()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def pids(system: System) -> dict[str, int]:
    """Every service that lives, by name: whatever was asked of them, none may have ended or begun anew."""
    return {name: service.pid for name, service in system.services.items() if service.exit_code is None}


def logs(system: System) -> dict[str, str]:
    """Everything that every service has written, by name."""
    folder: Path = system.data / "logs"
    return {path.name: path.read_text(errors="replace") for path in folder.glob("*.log")}
