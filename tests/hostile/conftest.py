"""A small system with the limits that strangers meet, for clients who mean harm."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from deploy.local.system import System
from services.kit import plain_redis
from tests.e2e.serving import serving, site, store

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


def pids(system: System) -> dict[str, int]:
    """Every service that lives, by name: whatever was asked of them, none may have ended or begun anew."""
    return {name: service.pid for name, service in system.services.items() if service.exit_code is None}


def logs(system: System) -> dict[str, str]:
    """Everything that every service has written, by name."""
    folder: Path = system.data / "logs"
    return {path.name: path.read_text(errors="replace") for path in folder.glob("*.log")}
