"""Real servers for every test that wants one: started once, on free ports, in folders that go away.

TEST_REDIS_URL and TEST_NATS_URL name servers to use instead. Nothing is flushed: tests share the
servers, so each one invents its own match ids and owners (`new_match`, `new_owner`).
Async tests are marked `pytest.mark.anyio` and run on uvloop, as the services do.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from uuid import uuid4

import pytest

# Before gRPC is imported: its fork handlers can crash a child of this process between fork and exec
# (grpc/grpc#43055), and these tests start many.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

from deploy.local.servers import Nats, Valkey
from services.core.ids import MatchId


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session", autouse=True)
async def one_loop(anyio_backend: object) -> AsyncIterator[None]:
    """Keeps one event loop for all tests: gRPC's poller may report to a test's loop after the test's end."""
    yield  # noqa: PT022 - the loop lives as long as this is not returned


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store that keeps an append-only file and evicts nothing."""
    if url := os.environ.get("TEST_REDIS_URL"):
        yield url
        return
    with Valkey(tmp_path_factory.mktemp("valkey")) as valkey:
        yield valkey.url


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A NATS server with JetStream."""
    if url := os.environ.get("TEST_NATS_URL"):
        yield url
        return
    with Nats(tmp_path_factory.mktemp("nats")) as nats:
        yield nats.url


@pytest.fixture
def new_match() -> Callable[[], MatchId]:
    """Makes match ids that no other test has."""
    return lambda: MatchId(uuid4().hex)


@pytest.fixture
def new_owner() -> Callable[[], str]:
    """Makes owners (in place of a title's slug) whose outbox and deadlines no other test has."""
    return lambda: f"owner_{uuid4().hex[:12]}"
