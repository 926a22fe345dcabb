"""What the Redis store does beyond the laws of every store: its keys, its function, and an unsafe Redis."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from deploy.local.servers import Valkey
from services.core.errors import HistoryCorrupt, StoreUnavailable, VersionConflict
from services.core.ids import MatchId, match_stream
from services.kit.redis_append import LIBRARY
from services.kit.redis_keys import deadlines_key, outbox_key, seed_key, stream_key, streams_key
from services.kit.redis_library import UnsafeRedis
from services.kit.redis_store import RedisStore
from services.kit.store import After, partition
from tests.kit.writer import Writer

pytestmark = pytest.mark.anyio


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    """A server of the test's own, to be killed and misconfigured."""
    with Valkey(tmp_path, fsync="always") as valkey:
        yield valkey


@pytest.fixture
async def store(valkey: Valkey) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(valkey.url)
    yield store
    await store.close()


@pytest.fixture
def writer(new_match: Callable[[], MatchId]) -> Writer:
    return Writer(match_stream(new_match()), "make_way")


def test_the_partition_of_a_match_never_changes() -> None:
    assert [partition(MatchId(name)) for name in ("", "a", "x7Kq")] == [46, 222, 210]


async def test_every_key_is_where_the_storage_format_says(store: RedisStore, writer: Writer) -> None:
    match = MatchId(writer.stream.removeprefix("match/"))
    await writer.write(store, seed=b"s" * 32, deadline=77)
    tag = f"{{p{partition(match)}}}"
    assert await store.link.call("XRANGE", f"{tag}:match/{match}", "-", "+") == [
        [b"1-0", [b"e", b'{"version":1,"text":""}', b"h", writer.hash]]
    ]
    assert await store.link.call("GET", f"{tag}:seed/{match}") == b"s" * 32
    outbox = await store.link.call("ZRANGE", f"{tag}:outbox:make_way", 0, -1, "WITHSCORES")
    assert outbox == [f"match/{match}:1".encode(), b"1001"]
    deadlines = await store.link.call("ZRANGE", f"{tag}:deadlines:make_way", 0, -1, "WITHSCORES")
    assert deadlines == [match.encode(), b"77"]
    assert await store.link.call("SMEMBERS", f"{tag}:streams") == [f"match/{match}".encode()]


async def test_a_stale_writer_changes_none_of_the_five_keys(store: RedisStore, writer: Writer) -> None:
    match = MatchId(writer.stream.removeprefix("match/"))
    number = partition(match)
    keys = [
        stream_key(writer.stream),
        outbox_key(number, writer.owner),
        deadlines_key(number, writer.owner),
        streams_key(number),
        seed_key(match),
    ]
    stale = writer.following("stale", seed=b"x" * 32, deadline=1, at=1)
    await writer.write(store, 2, seed=b"s" * 32, deadline=77)
    before = [await store.link.call("DUMP", key) for key in keys]
    assert None not in before
    with pytest.raises(VersionConflict):
        await store.append(stale)
    assert [await store.link.call("DUMP", key) for key in keys] == before


async def test_a_lost_function_is_loaded_again_by_the_append_that_misses_it(
    store: RedisStore, writer: Writer
) -> None:
    await store.link.call("FUNCTION", "FLUSH")
    others = [Writer(match_stream(MatchId(f"other{number}")), "make_way") for number in range(20)]
    await asyncio.gather(*(each.write(store, 2) for each in (writer, *others)))
    assert await store.heads([writer.stream]) == [2]


async def test_another_text_of_the_library_is_replaced_at_the_start(
    valkey: Valkey, store: RedisStore, writer: Writer
) -> None:
    library = f"#!lua name={LIBRARY}\nredis.register_function('waystation_append_1', function() return 7 end)"
    await store.link.call("FUNCTION", "LOAD", "REPLACE", library)
    late = await RedisStore.open(valkey.url)
    await writer.write(late)
    assert await late.heads([writer.stream]) == [1]
    await late.close()


async def test_acknowledged_entries_outlive_a_kill(valkey: Valkey, store: RedisStore, writer: Writer) -> None:
    acknowledged = []
    under_way = asyncio.Event()

    async def write_until_cut_off() -> None:
        while True:
            acknowledged.extend(await writer.write(store))
            if len(acknowledged) == 50:
                under_way.set()

    writing = asyncio.ensure_future(write_until_cut_off())
    await under_way.wait()
    valkey.kill()
    with pytest.raises(StoreUnavailable):
        await writing
    valkey.start()
    stored = await store.read(writer.stream)
    assert stored[: len(acknowledged)] == acknowledged
    assert len(stored) - len(acknowledged) in (0, 1)  # the one in flight may be either
    writer.follow(stored[-1])
    await writer.write(store)


async def test_a_redis_out_of_memory_refuses_and_stores_nothing(store: RedisStore, writer: Writer) -> None:
    written = await writer.write(store)
    await store.link.call("CONFIG", "SET", "maxmemory", 1)
    with pytest.raises(StoreUnavailable, match="OOM"):
        await store.append(writer.following())
    await store.link.call("CONFIG", "SET", "maxmemory", 0)
    assert await store.read(writer.stream) == written


async def test_a_key_of_another_kind_stands_in_nobody_elses_way_and_is_never_written_over(
    store: RedisStore, writer: Writer
) -> None:
    written = await writer.write(store)
    other = match_stream(MatchId("other"))
    await store.link.call("SET", stream_key(other), "nothing of ours")
    await store.link.call("SET", deadlines_key(partition(MatchId("other")), "wayfare"), "nothing of ours")
    assert await store.heads([other, writer.stream]) == [0, written[-1].version]
    assert await store.read_many([After(other, 0), After(writer.stream, 0)]) == [[], written]
    with pytest.raises(HistoryCorrupt, match="holds no stream"):
        await store.read(other)
    with pytest.raises(StoreUnavailable, match="WRONGTYPE"):
        await store.set_deadline("wayfare", MatchId("other"), 1)


@pytest.mark.parametrize(("setting", "value"), [("appendonly", "no"), ("maxmemory-policy", "allkeys-lru")])
async def test_a_redis_that_may_lose_events_is_refused_by_the_setting_s_name(
    valkey: Valkey, store: RedisStore, setting: str, value: str
) -> None:
    await store.link.call("CONFIG", "SET", setting, value)
    with pytest.raises(UnsafeRedis, match=setting) as refusal:
        await RedisStore.open(valkey.url)
    assert "REDIS_UNSAFE=1" in str(refusal.value)
    assert "\n" not in str(refusal.value)


async def test_an_unsafe_redis_can_be_allowed(valkey: Valkey, store: RedisStore, writer: Writer) -> None:
    await store.link.call("CONFIG", "SET", "appendonly", "no")
    allowed = await RedisStore.open(valkey.url, unsafe=True)
    await writer.write(allowed)
    await allowed.close()


async def test_no_redis_at_all_is_an_outage() -> None:
    with pytest.raises(StoreUnavailable):
        await RedisStore.open("redis://127.0.0.1:1")
