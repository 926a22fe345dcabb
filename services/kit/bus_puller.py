"""Pulls a durable consumer's messages in batches: what nats-py's `fetch` does, on the short way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import NamedTuple

import nats.errors

from services.kit.bus_client import BusClient, Delivery, packed

WAIT_S = 1.0  # how long an empty stream is listened to at a time
_ANSWER_S_MAX = 2.0  # beyond what the server was asked to wait
_PARTS = 9  # of $JS.ACK.<stream>.<consumer>.<attempt>...; a domain adds two in the middle and one at the end
_NOTHING_MORE = (b"404", b"408")  # none there now; none came in time


class Standing(NamedTuple):
    """What a pulled message tells of itself. `attempt`: how often it has been delivered, counted from one."""

    attempt: int
    pending: int  # messages that the consumer had yet to get after it


def standing(delivery: Delivery) -> Standing:
    """Read off the reply subject."""
    parts = delivery.reply.split(b".")
    shift = 0 if len(parts) == _PARTS else 2
    return Standing(int(parts[4 + shift]), int(parts[8 + shift]))


def done(delivery: Delivery) -> bytes:
    """The message, as it travels, after which `delivery` does not come again."""
    return packed(delivery.reply)


def later(delivery: Delivery, after_s: float) -> bytes:
    """The message after which `delivery` comes again."""
    return packed(delivery.reply, b'-NAK {"delay":%d}' % (after_s * 1e9))


def never(delivery: Delivery) -> bytes:
    """The message after which `delivery` does not come again, and JetStream tells that it was given up."""
    return packed(delivery.reply, b"+TERM")


class Puller:
    """`opened` gives one."""

    def __init__(self, client: BusClient, subject: bytes, inbox: bytes) -> None:
        self._client = client
        self._subject = subject
        self._inbox = inbox
        self._held: list[Delivery] = []
        self._wanted = 0
        self._refusal = b""
        self._is_answered = asyncio.Event()

    @classmethod
    @contextlib.asynccontextmanager
    async def opened(cls, client: BusClient, stream: str, consumer: str) -> AsyncIterator["Puller"]:
        inbox = client.new_inbox()
        puller = cls(client, f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}".encode(), inbox.encode())
        async with client.hearing(inbox, puller._hear):
            yield puller

    async def batch(self, size: int) -> list[Delivery]:
        """What there is, oldest first; if nothing is, the first that comes; none when nothing comes soon.

        Raises nats.errors.Error when the consumer is gone.
        """
        await self._ask(b'{"batch":%d,"no_wait":true}' % size, size, 0)
        if not self._held:
            await self._ask(b'{"batch":1,"expires":%d}' % (WAIT_S * 1e9), 1, WAIT_S)
        if not self._held and self._refusal:
            raise nats.errors.Error(self._refusal.decode(errors="replace"))
        batch, self._held = self._held, []
        return batch

    async def _ask(self, request: bytes, wanted: int, wait_s: float) -> None:
        """Returns when as many are there, or the server has no more, or does not answer."""
        self._wanted, self._refusal = wanted, b""
        self._is_answered.clear()
        await self._client.send([packed(self._subject, request, reply=self._inbox)])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s + _ANSWER_S_MAX):
                await self._is_answered.wait()

    def _hear(self, delivery: Delivery) -> None:
        if not delivery.status:
            self._held.append(delivery)
            self._wanted -= 1
        elif delivery.status not in _NOTHING_MORE:
            self._refusal = delivery.headers.strip()
        if delivery.status or self._wanted == 0:
            self._is_answered.set()
