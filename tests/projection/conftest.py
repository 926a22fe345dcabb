"""Read models on the real store, empty at first."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from services.kit.redis_link import RedisLink
from services.projection.models import ReadModels


@pytest.fixture
async def link(valkey_url: str) -> AsyncIterator[RedisLink]:
    link = RedisLink(valkey_url)
    yield link
    await link.close()


@pytest.fixture
async def models(valkey_url: str, link: RedisLink) -> ReadModels:
    redis = Redis.from_url(valkey_url)
    async for key in redis.scan_iter(match="{projection}:*"):
        await redis.delete(key)
    await redis.aclose()
    return ReadModels(link)
