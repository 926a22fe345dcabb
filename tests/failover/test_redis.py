"""The store and the plain client on a replicated Redis whose primary is killed, cut off or demoted."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import pytest

from services.core.errors import HistoryForked, StoreUnavailable
from services.core.ids import MatchId, match_stream
from services.kit import plain_redis
from services.kit.redis_keys import stream_key
from services.kit.redis_store import RedisStore
from tests.failover.servers import HOST, PASSWORD, PRIMARY_NAME, Member, RedisGroup
from tests.kit.writer import Writer
from tests.waiting import PATIENCE_S, wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

T = TypeVar("T")


@pytest.fixture
def group(tmp_path: Path) -> Iterator[RedisGroup]:
    """Two replicas: one may be away."""
    with RedisGroup(tmp_path, replicas=2) as group:
        yield group


@pytest.fixture
def writer(new_match: Callable[[], MatchId]) -> Writer:
    return Writer(match_stream(new_match()), "make_way")


async def at_last(ask: Callable[[], Awaitable[T]]) -> T:
    """The answer, however often Redis was away before. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await ask()
            except StoreUnavailable:
                await asyncio.sleep(0.05)


async def test_what_a_replica_has_confirmed_outlives_a_killed_primary(
    group: RedisGroup, writer: Writer
) -> None:
    store = await RedisStore.open(group.url, replicas=1)
    acknowledged = []
    under_way = asyncio.Event()

    async def write_until_cut_off() -> None:
        while True:
            acknowledged.extend(await writer.write(store))
            if len(acknowledged) == 50:
                under_way.set()

    writing = asyncio.ensure_future(write_until_cut_off())
    await under_way.wait()
    group.primary.kill()
    with pytest.raises(StoreUnavailable):
        await writing
    stored = await at_last(lambda: store.read(writer.stream))
    assert stored[: len(acknowledged)] == acknowledged
    assert len(stored) - len(acknowledged) in (0, 1)  # the one in flight may be either
    writer.follow(stored[-1])
    await at_last(lambda: writer.write(store))
    assert group.promoted().is_primary
    await store.close()


async def test_an_append_that_no_replica_has_is_not_acknowledged_and_not_read_either(
    group: RedisGroup, writer: Writer
) -> None:
    store = await RedisStore.open(group.url, replicas=1)
    await writer.write(store)
    for replica in group.replicas:
        replica.pause()
    with pytest.raises(StoreUnavailable, match="unknown"):
        await store.append(writer.following("second"))
    with pytest.raises(StoreUnavailable, match="unknown"):  # a repeated command must not find it there
        await store.read(writer.stream)
    for replica in group.replicas:
        replica.resume()
    assert len(await at_last(lambda: store.read(writer.stream))) == 2
    await store.close()


async def test_without_waiting_for_replicas_a_failover_can_take_moves_back_and_shows_it(
    group: RedisGroup, writer: Writer
) -> None:
    store = await RedisStore.open(group.url)
    await writer.write(store)
    wait_until(lambda: all(_length(replica, writer) == 1 for replica in group.replicas))
    for replica in group.replicas:
        replica.pause()
    group.primary.asked("CLIENT", "KILL", "TYPE", "replica")  # or what follows would wait in their sockets
    await writer.write(store, 2)  # acknowledged, and on the primary alone
    group.primary.kill()
    for replica in group.replicas:
        replica.resume()
    assert len(await at_last(lambda: store.read(writer.stream))) == 1
    with pytest.raises(HistoryForked):
        await at_last(lambda: store.append(writer.following("fourth")))
    await store.close()


async def test_a_primary_that_was_demoted_is_left_by_the_next_question(
    group: RedisGroup, writer: Writer
) -> None:
    store = await RedisStore.open(group.url)
    await writer.write(store)
    group.sentinels[0].asked("SENTINEL", "FAILOVER", PRIMARY_NAME)
    group.promoted()
    wait_until(lambda: not group.primary.is_primary)
    await at_last(lambda: writer.write(store, 1))
    assert (await store.heads([writer.stream]))[0] >= 2
    await store.close()


async def test_a_link_to_a_plain_address_asks_anew_when_its_server_has_become_a_replica(
    group: RedisGroup, writer: Writer
) -> None:
    store = await RedisStore.open(f"redis://:{quote(PASSWORD, safe='')}@{HOST}:{group.primary.port}")
    wire = store.link._wire
    group.primary.asked("REPLICAOF", HOST, "1")
    with pytest.raises(StoreUnavailable, match="READONLY"):
        await store.append(writer.following("first"))
    assert store.link._wire is not wire
    await store.close()


async def test_the_plain_client_follows_the_primary_too(group: RedisGroup) -> None:
    redis = plain_redis.connect(group.url)
    await plain_redis.answered(redis.set("before", 1))
    wait_until(lambda: all(b"$1" in replica.asked("GET", "before") for replica in group.replicas))
    group.primary.kill()
    assert await at_last(lambda: plain_redis.answered(redis.incr("before"))) == 2
    await redis.aclose()


def _length(member: Member, writer: Writer) -> int:
    """How many entries of the writer's stream `member` has."""
    return int(member.asked("XLEN", stream_key(writer.stream)).strip()[1:])
