"""Reading events from JetStream: at least once, in batches, and past the one that cannot be handled."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client

from deploy.local.servers import Nats
from services.core.errors import StoreUnavailable
from services.kit.bus import Bus
from services.kit.bus_events import STREAM, ensure_events_stream
from services.kit.consume import Consumer
from tests.waiting import until

pytestmark = pytest.mark.anyio

Handle = Callable[[Sequence[bytes]], Awaitable[None]]


class Reader:
    """A handler that remembers what it has dealt with, and fails where it is told to."""

    def __init__(self) -> None:
        self.handled: list[bytes] = []
        self.calls = 0
        self.fails_with: Callable[[Sequence[bytes]], Exception | None] = lambda batch: None

    async def __call__(self, batch: Sequence[bytes]) -> None:
        self.calls += 1
        if error := self.fails_with(batch):
            raise error
        self.handled += batch

    async def has(self, expected: set[bytes]) -> None:
        """Returns once all of `expected` has been dealt with."""
        await until(lambda: expected <= set(self.handled), f"all of {expected} are handled")


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[Nats]:
    """A server of the test's own, to be killed."""
    with Nats(tmp_path) as server:
        yield server


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def owner(new_owner: Callable[[], str]) -> str:
    return new_owner()


@asynccontextmanager
async def consuming(url: str, owner: str, handle: Handle) -> AsyncIterator[Consumer]:
    """A consumer of the owner's events; its durable name is the owner's."""
    bus = Bus(url, "test")
    consumer = Consumer(bus, owner, handle, subjects=f"events.{owner}.>", again_s=0.05, attempts_max=3)
    bus.start()
    consumer.start()
    yield consumer
    await consumer.stop()
    await bus.stop()


async def published(url: str, owner: str, first: int, last: int) -> set[bytes]:
    """Publishes the numbers `first` to `last` and returns them as payloads."""
    client = Client()
    await client.connect(url)
    await ensure_events_stream(client)
    payloads = [b"%d" % number for number in range(first, last + 1)]
    for payload in payloads:
        await client.jetstream().publish(f"events.{owner}.0.m", payload)
    await client.close()
    return set(payloads)


async def unacknowledged(url: str, owner: str) -> int:
    """How many events the consumer has yet to read or to acknowledge."""
    client = Client()
    await client.connect(url)
    info = await client.jetstream().consumer_info(STREAM, owner)
    await client.close()
    return info.num_pending + info.num_ack_pending


async def all_acknowledged(url: str, owner: str) -> bool:
    return await unacknowledged(url, owner) == 0


async def test_events_are_handled_once_in_order_and_acknowledged(
    nats_url: str, owner: str, reader: Reader
) -> None:
    early = await published(nats_url, owner, 1, 400)
    async with consuming(nats_url, owner, reader):
        await reader.has(early)
        late = await published(nats_url, owner, 401, 410)
        await reader.has(late)
    assert reader.handled == [b"%d" % number for number in range(1, 411)]
    assert reader.calls < 100
    assert await unacknowledged(nats_url, owner) == 0


async def test_a_stopped_consumer_goes_on_where_it_was(nats_url: str, owner: str, reader: Reader) -> None:
    async with consuming(nats_url, owner, reader):
        await reader.has(await published(nats_url, owner, 1, 10))
    await published(nats_url, owner, 11, 20)
    later = Reader()
    async with consuming(nats_url, owner, later):
        await later.has({b"20"})
    assert later.handled == [b"%d" % number for number in range(11, 21)]


async def test_a_stop_waits_for_the_batch_in_hand(nats_url: str, owner: str) -> None:
    begun, finished = asyncio.Event(), []

    async def slow(batch: Sequence[bytes]) -> None:
        begun.set()
        await asyncio.sleep(0.2)
        finished.extend(batch)

    await published(nats_url, owner, 1, 5)
    async with consuming(nats_url, owner, slow):
        await begun.wait()
    assert len(finished) == 5
    assert await unacknowledged(nats_url, owner) == 0


async def test_two_consumers_of_one_name_share_the_events(nats_url: str, owner: str) -> None:
    readers = Reader(), Reader()
    async with consuming(nats_url, owner, readers[0]), consuming(nats_url, owner, readers[1]):
        expected = await published(nats_url, owner, 1, 200)
        await until(lambda: expected <= {*readers[0].handled, *readers[1].handled})
    assert Counter(readers[0].handled + readers[1].handled) == Counter(expected)


async def test_an_outage_loses_nothing_however_often_it_strikes(
    nats_url: str, owner: str, reader: Reader
) -> None:
    def down_at_first(batch: Sequence[bytes]) -> Exception | None:
        return StoreUnavailable("on purpose") if reader.calls <= 8 else None

    reader.fails_with = down_at_first
    async with consuming(nats_url, owner, reader):
        await reader.has(await published(nats_url, owner, 1, 20))
    assert await unacknowledged(nats_url, owner) == 0


async def test_a_poisonous_event_is_left_out_after_its_attempts_and_holds_up_no_other(
    nats_url: str, owner: str, reader: Reader
) -> None:
    alone = 0

    def poisoned(batch: Sequence[bytes]) -> Exception | None:
        nonlocal alone
        alone += batch == [b"7"]
        return KeyError("on purpose") if b"7" in batch else None

    reader.fails_with = poisoned
    expected = await published(nats_url, owner, 1, 20)
    async with consuming(nats_url, owner, reader):
        await reader.has(expected - {b"7"})
        await until(lambda: all_acknowledged(nats_url, owner))
    assert sorted(reader.handled) == sorted(expected - {b"7"})
    assert 1 <= alone <= 3


async def test_events_that_a_consumer_gave_back_come_to_another(
    nats_url: str, owner: str, reader: Reader
) -> None:
    tried = asyncio.Event()

    async def gives_back(batch: Sequence[bytes]) -> None:
        tried.set()
        raise StoreUnavailable("on purpose")

    expected = await published(nats_url, owner, 1, 10)
    async with consuming(nats_url, owner, gives_back):
        await tried.wait()
    async with consuming(nats_url, owner, reader):
        await reader.has(expected)


async def test_a_consumer_outlives_its_nats(nats_server: Nats, owner: str, reader: Reader) -> None:
    async with consuming(nats_server.url, owner, reader):
        await reader.has(await published(nats_server.url, owner, 1, 10))
        nats_server.kill()
        await asyncio.sleep(0.1)
        nats_server.start()
        await reader.has(await published(nats_server.url, owner, 11, 20))


@pytest.mark.slow
async def test_a_stream_made_anew_is_read_from_its_start(
    nats_server: Nats, owner: str, reader: Reader
) -> None:
    async with consuming(nats_server.url, owner, reader):
        await reader.has(await published(nats_server.url, owner, 1, 10))
        client = Client()
        await client.connect(nats_server.url)
        await client.jetstream().delete_stream(STREAM)
        await client.close()
        await reader.has(await published(nats_server.url, owner, 11, 20))
