from collections.abc import AsyncIterator, Callable

import pytest

from services.core.ids import MatchId
from services.kit.redis_store import RedisStore
from tests.rules.hosting import TOY_LIBRARY, Host, started


@pytest.fixture
async def store(valkey_url: str) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(valkey_url)
    yield store
    await store.close()


@pytest.fixture
async def rival_store(valkey_url: str) -> AsyncIterator[RedisStore]:
    """Another worker's connection to the same Redis."""
    store = await RedisStore.open(valkey_url)
    yield store
    await store.close()


@pytest.fixture
def host(store: RedisStore) -> Host:
    return Host(TOY_LIBRARY, store)


@pytest.fixture
def rival(rival_store: RedisStore) -> Host:
    """Another worker of the same title."""
    return Host(TOY_LIBRARY, rival_store)


@pytest.fixture
async def match(host: Host, new_match: Callable[[], MatchId]) -> MatchId:
    """A match of High Card between ann and bob, just started."""
    return await started(host, new_match())
