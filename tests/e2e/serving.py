"""A system of real processes for the tests of a folder, and what they talk to it with.

A conftest gives its own `system` and takes `site` and `store` from here.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.local.servers import free_port
from deploy.local.system import System
from services.kit.redis_store import RedisStore
from tests.e2e.site import Site

# One machine plays all the players here.
UNLIMITED = {
    "RATE_PER_PLAYER": "0",
    "RATE_PER_ADDRESS": "0",
    "SOCKETS_PER_ADDRESS": "20000",
    "ADMIN_TOKEN": "an operator's token",
}


@contextmanager
def serving(data: Path, workers: Mapping[str, int], gateways: int = 1, **env: str) -> Iterator[System]:
    """A system on free ports, without limits but for those in `env`. `workers`: of each title."""
    ports = [free_port() for _ in range(gateways)]
    system = System(data=data, workers=workers, ports=ports, env={**UNLIMITED, **env})
    system.start()
    try:
        yield system
    finally:
        system.stop()


@pytest.fixture
async def site(system: System) -> AsyncIterator[Site]:
    async with Site([f"http://{system.host}:{port}" for port in system.ports]) as site:
        yield site


@pytest.fixture
async def store(system: System) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(system.redis_url)
    yield store
    await store.close()
