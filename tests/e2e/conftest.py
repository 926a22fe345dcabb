"""The whole system as real processes, for the tests of this folder."""

from collections.abc import AsyncIterator, Iterator

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


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Two workers of each of two titles, two gateways."""
    running = System(
        data=tmp_path_factory.mktemp("system"),
        workers={"wayfare": 2, "make_way": 2},
        ports=[free_port(), free_port()],
        env=UNLIMITED,
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture
async def site(system: System) -> AsyncIterator[Site]:
    async with Site([f"http://{system.host}:{port}" for port in system.ports]) as site:
        yield site


@pytest.fixture
async def store(system: System) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(system.redis_url)
    yield store
    await store.close()
