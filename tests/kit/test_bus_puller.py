"""Pulling from a durable consumer: all that is there at once, or else the first that comes."""

import asyncio
from collections.abc import AsyncIterator, Callable

import nats.errors
import pytest
from nats.js.api import AckPolicy, ConsumerConfig

from services.kit.bus_client import BusClient, Delivery
from services.kit.bus_events import STREAM, ensure_events_stream
from services.kit.bus_puller import Puller, Standing, done, later, never, standing

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(nats_url: str) -> AsyncIterator[BusClient]:
    client = BusClient()
    await client.connect(nats_url)
    yield client
    await client.close()


@pytest.fixture
async def owner(client: BusClient, new_owner: Callable[[], str]) -> str:
    """One whose events a consumer of the same name reads."""
    owner = new_owner()
    await ensure_events_stream(client)
    config = ConsumerConfig(
        durable_name=owner, filter_subject=f"events.{owner}.>", ack_policy=AckPolicy.EXPLICIT
    )
    await client.jetstream().add_consumer(STREAM, config)
    return owner


async def publish(client: BusClient, owner: str, *payloads: bytes) -> None:
    for payload in payloads:
        await client.jetstream().publish(f"events.{owner}.0.m", payload)


def data(batch: list[Delivery]) -> list[bytes]:
    return [delivery.data for delivery in batch]


async def test_a_batch_holds_what_is_there_in_order_and_no_more_than_asked(
    client: BusClient, owner: str
) -> None:
    await publish(client, owner, b"1", b"2", b"3")
    async with Puller.opened(client, STREAM, owner) as puller:
        assert data(await puller.batch(2)) == [b"1", b"2"]
        assert data(await puller.batch(2)) == [b"3"]


async def test_an_empty_stream_is_listened_to_until_something_comes(client: BusClient, owner: str) -> None:
    async with Puller.opened(client, STREAM, owner) as puller:
        batch = asyncio.create_task(puller.batch(2))
        await asyncio.sleep(0.1)
        await publish(client, owner, b"1")
        assert data(await batch) == [b"1"]


async def test_a_batch_is_empty_when_nothing_comes(client: BusClient, owner: str) -> None:
    async with Puller.opened(client, STREAM, owner) as puller:
        assert await puller.batch(2) == []


async def test_a_consumer_that_is_gone_is_told_from_an_empty_one(client: BusClient, owner: str) -> None:
    async with Puller.opened(client, STREAM, owner) as puller:
        await client.jetstream().delete_consumer(STREAM, owner)
        with pytest.raises(nats.errors.Error):
            await puller.batch(2)


async def test_what_is_put_off_comes_again_and_what_is_done_or_given_up_does_not(
    client: BusClient, owner: str
) -> None:
    await publish(client, owner, b"1", b"2", b"3")
    async with Puller.opened(client, STREAM, owner) as puller:
        first, second, third = await puller.batch(3)
        assert standing(first) == Standing(attempt=1, pending=2)
        await client.send([done(first), later(second, 0.05), never(third)])
        (again,) = await puller.batch(3)
    assert again.data == b"2"
    assert standing(again) == Standing(attempt=2, pending=0)


@pytest.mark.parametrize(
    "reply",
    [
        b"$JS.ACK.EVENTS.projection.3.14.15.1700000000000000000.92",
        b"$JS.ACK._.hash.EVENTS.projection.3.14.15.1700000000000000000.92",
        b"$JS.ACK.hub.hash.EVENTS.projection.3.14.15.1700000000000000000.92.random",
    ],
)
def test_a_reply_subject_is_read_with_a_domain_and_without(reply: bytes) -> None:
    assert standing(Delivery(b"events.a.0.m", reply, b"", b"")) == Standing(attempt=3, pending=92)
