"""A store of the lobby's own: lists of waiting tables have one name for all, so each test begins empty."""

from collections.abc import AsyncIterator, Iterator

import pytest

from deploy.local.servers import Valkey
from tests.lobby.hosting import Site, site_on


@pytest.fixture(scope="session")
def lobby_redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Valkey(tmp_path_factory.mktemp("lobby")) as valkey:
        yield valkey.url


@pytest.fixture
async def site(lobby_redis_url: str) -> AsyncIterator[Site]:
    """One lobby and one worker of High Card."""
    async with site_on(lobby_redis_url) as site:
        yield site


@pytest.fixture
async def two_lobbies(lobby_redis_url: str) -> AsyncIterator[Site]:
    async with site_on(lobby_redis_url, lobbies=2) as site:
        yield site
