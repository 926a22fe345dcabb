"""From the outbox to JetStream: at least once, whatever happens to NATS or to a worker."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.js.api import ConsumerConfig, DeliverPolicy

from deploy.local.servers import Nats
from services.core.errors import HistoryCorrupt
from services.core.ids import MatchId, StreamName, match_stream
from services.kit import bus_publisher
from services.kit.bus import Bus
from services.kit.bus_events import MESSAGE_ID, STREAM, message_id, subject
from services.kit.memory_store import MemoryStore
from services.kit.redis_store import RedisStore
from services.kit.relay import Relay
from services.kit.store import EventStore
from tests.kit.writer import Writer
from tests.waiting import until

pytestmark = pytest.mark.anyio

NEVER_S = 3_600.0
ALL = 1_000_000  # more than any test leaves in an outbox
FAR_MS = 2**52


async def rebuilt(stream: StreamName, version: int) -> bytes:
    """What the sweeper publishes: told apart from what the writer has sent."""
    return f"rebuilt {stream}:{version}".encode()


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[Nats]:
    """A server of the test's own, to be killed."""
    with Nats(tmp_path) as server:
        yield server
        server.resume()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def writer(new_match: Callable[[], MatchId], new_owner: Callable[[], str]) -> Writer:
    return Writer(match_stream(new_match()), new_owner())


@asynccontextmanager
async def relaying(
    url: str,
    store: EventStore,
    owner: str,
    *,
    sweep_every_s: float = NEVER_S,
    ack_s_max: float = 5.0,
    payload: Callable[[StreamName, int], object] = rebuilt,
) -> AsyncIterator[Relay]:
    bus = Bus(url, "test")
    relay = Relay(bus, store, owner, payload, older_s=0.1, sweep_every_s=sweep_every_s, ack_s_max=ack_s_max)
    bus.start()
    relay.start()
    yield relay
    await relay.stop()
    await bus.stop()


async def sent(store: EventStore, relay: Relay, writer: Writer, count: int) -> list[bytes]:
    """Appends `count` entries, hands each to the relay and returns their payloads."""
    payloads = []
    for _ in range(count):
        (entry,) = await writer.write(store)
        relay.publish(writer.stream, entry, entry.body)
        payloads.append(entry.body)
    return payloads


async def emptied(store: EventStore, owner: str, but_for: int = 0) -> None:
    """Returns once the outbox of `owner` holds no more than that."""

    async def is_empty() -> bool:
        return len(await store.outbox_due(owner, FAR_MS, ALL)) <= but_for

    await until(is_empty, f"the outbox of {owner} is empty")


async def published(url: str, owner: str) -> list[tuple[bytes, str]]:
    """(payload, message id) of all that JetStream holds for `owner`, in its order."""
    client = Client()
    await client.connect(url)
    subjects = f"events.{owner}.>"
    held = (await client.jetstream().stream_info(STREAM, subjects_filter=subjects)).state.subjects or {}
    reader = await client.jetstream().pull_subscribe(
        subjects, stream=STREAM, config=ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
    )
    messages = []
    while len(messages) < sum(held.values()):
        messages += await reader.fetch(500, timeout=5)
    await client.close()
    return [(message.data, message.headers[MESSAGE_ID]) for message in messages]


def test_subject_and_message_id_name_owner_partition_stream_version_and_hash() -> None:
    stream = StreamName("table/a")
    append = Writer(stream, "make_way").following()
    assert subject("make_way", stream) == "events.make_way.222.a"
    assert message_id(stream, append.entry) == f"table/a:1:{append.entry.hash.hex()[:8]}"


async def test_published_events_arrive_in_order_and_leave_the_outbox(
    nats_url: str, valkey_url: str, writer: Writer
) -> None:
    store = await RedisStore.open(valkey_url)
    async with relaying(nats_url, store, writer.owner) as relay:
        payloads = await sent(store, relay, writer, 300)
        await emptied(store, writer.owner)
    entries = await store.read(writer.stream)
    assert await published(nats_url, writer.owner) == [
        (payload, message_id(writer.stream, entry)) for payload, entry in zip(payloads, entries, strict=True)
    ]
    await store.close()


async def test_an_event_published_twice_is_in_the_stream_once(
    nats_url: str, store: MemoryStore, writer: Writer
) -> None:
    async with relaying(nats_url, store, writer.owner) as relay:
        (entry,) = await writer.write(store)
        relay.publish(writer.stream, entry, entry.body)
        relay.publish(writer.stream, entry, entry.body)
        await emptied(store, writer.owner)
    async with relaying(nats_url, store, writer.owner) as other:
        other.publish(writer.stream, entry, entry.body)
    assert len(await published(nats_url, writer.owner)) == 1


async def test_what_a_dead_worker_left_is_published_by_the_sweeper(
    nats_url: str, store: MemoryStore, writer: Writer
) -> None:
    await writer.write(store, 5)
    async with relaying(nats_url, store, writer.owner, sweep_every_s=0.1):
        await emptied(store, writer.owner)
    told = sorted(payload for payload, _ in await published(nats_url, writer.owner))
    assert told == [f"rebuilt {writer.stream}:{version}".encode() for version in range(1, 6)]


async def test_a_backlog_larger_than_a_round_is_published_whole(
    nats_url: str, valkey_url: str, new_match: Callable[[], MatchId], new_owner: Callable[[], str]
) -> None:
    store = await RedisStore.open(valkey_url)
    owner = new_owner()
    for _ in range(4):
        await Writer(match_stream(new_match()), owner).write(store, 200)
    async with relaying(nats_url, store, owner, sweep_every_s=0.1):
        await emptied(store, owner)
    assert len(await published(nats_url, owner)) == 800
    await store.close()


async def test_an_event_that_cannot_be_told_holds_up_no_other(
    nats_url: str, store: MemoryStore, writer: Writer
) -> None:
    async def partly_broken(stream: StreamName, version: int) -> bytes:
        if version == 2:
            raise HistoryCorrupt(stream, version, "on purpose")
        return await rebuilt(stream, version)

    await writer.write(store, 3)
    async with relaying(nats_url, store, writer.owner, sweep_every_s=0.1, payload=partly_broken):
        await emptied(store, writer.owner, but_for=1)
    assert [entry.version for entry in await store.outbox_due(writer.owner, FAR_MS, ALL)] == [2]
    assert len(await published(nats_url, writer.owner)) == 2


async def test_an_outbox_entry_without_its_event_is_removed(
    nats_url: str, store: MemoryStore, writer: Writer
) -> None:
    await writer.write(store, 2)
    store._streams[writer.stream].pop()
    async with relaying(nats_url, store, writer.owner, sweep_every_s=0.1):
        await emptied(store, writer.owner)
    assert [payload for payload, _ in await published(nats_url, writer.owner)] == [
        f"rebuilt {writer.stream}:1".encode()
    ]


async def test_events_of_a_time_without_nats_are_published_when_it_is_back(
    nats_server: Nats, store: MemoryStore, writer: Writer
) -> None:
    async with relaying(nats_server.url, store, writer.owner, sweep_every_s=0.2) as relay:
        await sent(store, relay, writer, 20)
        await emptied(store, writer.owner)
        await sent(store, relay, writer, 20)
        nats_server.kill()
        await sent(store, relay, writer, 20)
        assert len(await store.outbox_due(writer.owner, FAR_MS, ALL)) >= 20
        nats_server.start()
        await emptied(store, writer.owner)
        await sent(store, relay, writer, 1)
        await emptied(store, writer.owner)
    versions = [int(id_.split(":")[1]) for _, id_ in await published(nats_server.url, writer.owner)]
    assert sorted(set(versions)) == list(range(1, 62))


async def test_a_nats_that_starts_late_and_without_the_stream_gets_everything(
    tmp_path: Path, store: MemoryStore, writer: Writer
) -> None:
    server = Nats(tmp_path / "nats")
    url = server.start()
    server.stop()
    async with relaying(url, store, writer.owner) as relay:
        payloads = await sent(store, relay, writer, 10)
        await asyncio.sleep(0.1)  # for a first attempt that finds nobody
        with server:
            await emptied(store, writer.owner)
            assert [payload for payload, _ in await published(url, writer.owner)] == payloads


async def test_a_stream_that_has_vanished_is_made_again(
    nats_server: Nats, store: MemoryStore, writer: Writer
) -> None:
    async with relaying(nats_server.url, store, writer.owner, sweep_every_s=0.2) as relay:
        await sent(store, relay, writer, 1)
        await emptied(store, writer.owner)
        client = Client()
        await client.connect(nats_server.url)
        await client.jetstream().delete_stream(STREAM)
        await client.close()
        await sent(store, relay, writer, 3)
        await emptied(store, writer.owner)
    versions = [int(id_.split(":")[1]) for _, id_ in await published(nats_server.url, writer.owner)]
    assert sorted(versions) == [2, 3, 4]


async def test_a_silent_nats_costs_neither_the_events_nor_more_than_the_bounded_memory(
    nats_server: Nats, store: MemoryStore, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_publisher, "QUEUE_BYTES_MAX", 20_000)
    monkeypatch.setattr(bus_publisher, "OUTSTANDING_MAX", 8)
    async with relaying(nats_server.url, store, writer.owner, sweep_every_s=0.2, ack_s_max=0.5) as relay:
        await sent(store, relay, writer, 1)
        await emptied(store, writer.owner)
        nats_server.pause()
        await sent(store, relay, writer, 200)
        assert relay._publisher._queue_bytes <= 20_000
        assert len(relay._in_hand) < 60
        nats_server.resume()
        await emptied(store, writer.owner)
    versions = [int(id_.split(":")[1]) for _, id_ in await published(nats_server.url, writer.owner)]
    assert sorted(set(versions)) == list(range(1, 202))
    assert len(versions) == len(set(versions))
