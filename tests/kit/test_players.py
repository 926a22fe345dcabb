from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from services.core.errors import NoSuchPlayer, TokenInvalid
from services.kit import plain_redis
from services.kit.players import Players, player_id

pytestmark = pytest.mark.anyio


@pytest.fixture
async def redis(valkey_url: str) -> AsyncIterator[Redis]:
    client = plain_redis.connect(valkey_url)
    yield client
    await client.aclose()


async def test_a_guest_is_known_again_by_the_secret_that_was_shown_once(redis: Redis) -> None:
    guest = await Players(redis).create()
    assert await Players(redis).recovered(guest.player, guest.recovery) == guest.player


async def test_two_guests_share_neither_id_nor_secret(redis: Redis) -> None:
    players = Players(redis)
    first, second = await players.create(), await players.create()
    assert first.player != second.player
    with pytest.raises(TokenInvalid):
        await players.recovered(first.player, second.recovery)


async def test_nobody_can_recover_a_player_that_never_was(redis: Redis) -> None:
    with pytest.raises(NoSuchPlayer):
        await Players(redis).recovered("p_nobody", "secret")


async def test_the_secret_itself_is_not_in_the_store(redis: Redis) -> None:
    guest = await Players(redis).create()
    kept = await redis.hgetall(f"identity:player:{guest.player}")
    assert kept
    assert not any(guest.recovery.encode() in value for value in kept.values())


def test_a_player_of_one_issuer_is_nobody_elses_player() -> None:
    assert player_id("a", "bc") != player_id("ab", "c")
    assert player_id("a", "bc") == player_id("a", "bc")
