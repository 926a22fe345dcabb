"""The short way past nats-py: the same messages, on the same connection."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import nats.errors
import pytest

from deploy.local.servers import Nats
from services.kit.bus_client import BusClient, Delivery, packed, packed_headers
from tests.waiting import until

pytestmark = pytest.mark.anyio


class Ear:
    """Remembers what it has heard."""

    def __init__(self) -> None:
        self.heard: list[Delivery] = []

    def __call__(self, delivery: Delivery) -> None:
        self.heard.append(delivery)

    async def has(self, count: int) -> list[Delivery]:
        """What has come, once it is that many."""
        await until(lambda: len(self.heard) >= count, f"{count} are heard")
        return self.heard


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[Nats]:
    """A server of the test's own, to be restarted."""
    with Nats(tmp_path) as server:
        yield server


@pytest.fixture
async def client(nats_url: str) -> AsyncIterator[BusClient]:
    client = BusClient()
    await client.connect(nats_url)
    yield client
    await client.close()


async def test_what_is_packed_reaches_an_ordinary_subscriber(client: BusClient) -> None:
    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox)
    headers = packed_headers({"Nats-Msg-Id": "match/a:1:00", "traceparent": "00-1-2-01"})
    await client.send(
        [packed(inbox.encode(), b"bare"), packed(inbox.encode(), b"full", reply=b"to.me", headers=headers)]
    )
    bare, full = [await subscription.next_msg(5) for _ in range(2)]
    assert (bare.data, bare.reply, bare.headers) == (b"bare", "", None)
    assert (full.data, full.reply) == (b"full", "to.me")
    assert full.headers == {"Nats-Msg-Id": "match/a:1:00", "traceparent": "00-1-2-01"}


async def test_what_an_ordinary_publisher_sends_is_heard(client: BusClient) -> None:
    inbox, ear = client.new_inbox(), Ear()
    async with client.hearing(f"{inbox}.*", ear):
        await client.publish(f"{inbox}.1", b"one", "to.me", {"traceparent": "00-1-2-01"})
        await client.publish(f"{inbox}.2", b"two\r\n")
        one, two = await ear.has(2)
    assert (one.subject, one.reply, one.data) == (f"{inbox}.1".encode(), b"to.me", b"one")
    assert (one.header("traceparent"), one.header("Nats-Msg-Id"), one.status) == ("00-1-2-01", "", b"")
    assert two == Delivery(f"{inbox}.2".encode(), b"", b"two\r\n", b"")


async def test_a_question_that_nobody_takes_is_answered_with_a_status(client: BusClient) -> None:
    inbox, ear = client.new_inbox(), Ear()
    async with client.hearing(inbox, ear):
        await client.send([packed(b"nobody.listens", reply=inbox.encode())])
        (answer,) = await ear.has(1)
    assert answer.status == b"503"


async def test_what_a_hearer_fails_on_does_not_end_the_hearing(client: BusClient) -> None:
    inbox, heard = client.new_inbox(), Ear()

    def hear(delivery: Delivery) -> None:
        heard(delivery)
        raise KeyError("on purpose")

    async with client.hearing(inbox, hear):
        await client.send([packed(inbox.encode(), b"1"), packed(inbox.encode(), b"2")])
        assert len(await heard.has(2)) == 2


async def test_nothing_is_heard_afterwards(client: BusClient) -> None:
    inbox, ear = client.new_inbox(), Ear()
    async with client.hearing(inbox, ear):
        pass
    await client.publish(inbox, b"too late")
    await client.flush()
    assert ear.heard == []


async def test_hearing_goes_on_after_a_reconnection(nats_server: Nats) -> None:
    client, ear, is_back = BusClient(), Ear(), asyncio.Event()

    async def reconnected() -> None:
        is_back.set()

    await client.connect(nats_server.url, reconnect_time_wait=0.1, reconnected_cb=reconnected)
    async with client.hearing("some.subject", ear):
        nats_server.restart()
        async with asyncio.timeout(20):
            await is_back.wait()
        await client.send([packed(b"some.subject", b"again")])
        (again,) = await ear.has(1)
    await client.close()
    assert again.data == b"again"


async def test_a_closed_client_sends_nothing_and_says_so(nats_url: str) -> None:
    client = BusClient()
    await client.connect(nats_url)
    await client.close()
    with pytest.raises(nats.errors.ConnectionClosedError):
        await client.send([packed(b"some.subject")])
