"""A small system with the limits that strangers meet, for clients who mean harm."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deploy.local.servers import free_port
from deploy.local.system import System
from services.kit.redis_store import RedisStore
from tests.e2e.conftest import UNLIMITED
from tests.e2e.site import Site


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """One worker of one title with hidden hands; logs at their most talkative."""
    running = System(
        data=tmp_path_factory.mktemp("system"),
        workers={"make_way": 1},
        ports=[free_port()],
        env={**UNLIMITED, "LOG_LEVEL": "DEBUG"},
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture
async def site(system: System) -> AsyncIterator[Site]:
    async with Site([system.url]) as site:
        yield site


@pytest.fixture
async def store(system: System) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(system.redis_url)
    yield store
    await store.close()


def logs(system: System) -> dict[str, str]:
    """Everything that every service has written, by name."""
    folder: Path = system.data / "logs"
    return {path.name: path.read_text(errors="replace") for path in folder.glob("*.log")}
