"""A Docker engine for the tests of this folder, and the dev overlay run on it."""

import os
from collections.abc import AsyncIterator, Iterator

import docker
import pytest

from deploy.local.system import shipped_titles
from services.kit.redis_store import RedisStore
from tests.containers.cluster import Cluster, Way
from tests.containers.engine import engine, give_up, titles_available, wait_until
from tests.containers.report import Report
from tests.e2e.conftest import UNLIMITED
from tests.e2e.site import Site
from tests.k8s.rendering import KUBECTL, overlay

os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")


_REPORT = pytest.StashKey[Report]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_REPORT] = Report()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash[_REPORT].lines():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    return pytestconfig.stash[_REPORT]


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[docker.DockerClient]:
    client = engine()
    yield client
    client.close()


@pytest.fixture(scope="module")
def cluster(docker_engine: docker.DockerClient) -> Iterator[Cluster]:
    """One Pod of everything in the dev overlay; every title can be played."""
    if not KUBECTL.is_file():
        give_up(f"no kubectl at {KUBECTL}: run deploy/kubectl.sh")
    with Cluster(docker_engine, overlay("dev"), {"gateway-secrets": UNLIMITED}) as running:
        url = f"http://127.0.0.1:{running.port('gateway', 8080)}"
        wait_until(lambda: titles_available(url) == len(shipped_titles()), "every title can be played")
        yield running


@pytest.fixture
async def site(cluster: Cluster) -> AsyncIterator[Site]:
    async with Way(cluster, "gateway", 8080) as way, Site([way.url]) as site:
        yield site


@pytest.fixture
async def store(cluster: Cluster) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(f"redis://127.0.0.1:{cluster.port('redis', 6379)}")
    yield store
    await store.close()
