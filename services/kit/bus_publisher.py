"""Publishing to JetStream without awaiting each confirmation: bounded in bytes, in number and in time."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import msgspec
import nats.errors
import structlog
from msgspec import Raw, Struct

from services.kit import tracing
from services.kit.bus import BUS_ERRORS, Bus
from services.kit.bus_client import BusClient, Delivery, packed, packed_headers
from services.kit.bus_events import MESSAGE_ID, TRACEPARENT, ensure_events_stream
from services.kit.store import Published
from services.kit.tracing import Span

log = structlog.get_logger()

QUEUE_BYTES_MAX = 16 * 1024 * 1024
PAYLOAD_BYTES_MAX = 1_000_000  # NATS refuses a little over 1 MiB
OUTSTANDING_MAX = 1_024
ACK_S_MAX = 5.0
RETRY_S = 1.0
# Letters of that long go out together, so that confirmations come in together too. At 500 events/s single
# letters were measured to take 2.5 times the CPU here, and 4 times in NATS.
_GATHER_S = 0.02
_LOOK_EVERY_S = 0.5  # for confirmations that are overdue
_LETTER_BYTES = 512  # what one costs beside its payload


class Letter(NamedTuple):
    """One event on its way to the bus."""

    entry: Published
    subject: str
    message_id: str
    payload: bytes
    traceparent: str = ""


class _Sent(NamedTuple):
    """A letter that waits for its confirmation. `at`: monotonic time."""

    entry: Published
    at: float
    span: Span


Settle = Callable[[Published, bool], None]  # True: JetStream has the event; False: nobody knows


class Publisher:
    """`settle` is called once for each letter that was accepted, unless the process ends before."""

    def __init__(self, bus: Bus, settle: Settle, *, ack_s_max: float = ACK_S_MAX) -> None:
        self._bus = bus
        self._settle = settle
        self._ack_s_max = ack_s_max
        self._queue: deque[Letter] = deque()
        self._queue_bytes = 0
        self._outstanding: dict[int, _Sent] = {}  # by number, oldest first
        self._sent = 0
        self._wake = asyncio.Event()
        self._is_refused = False
        self._is_stopping = False

    def offer(self, letter: Letter) -> bool:
        """Takes the letter, or says that it does not fit. Never waits."""
        size = len(letter.payload)
        if size > PAYLOAD_BYTES_MAX or self._queue_bytes + size + _LETTER_BYTES > QUEUE_BYTES_MAX:
            return False
        self._queue.append(letter)
        self._queue_bytes += size + _LETTER_BYTES
        self._wake.set()
        return True

    def stop(self) -> None:
        """Makes `keep_publishing` return soon. Cancelling alone is not enough: nats-py may swallow it."""
        self._is_stopping = True
        self._wake.set()

    async def keep_publishing(self) -> None:
        while not self._is_stopping:
            client = await self._bus.connected()
            try:
                await self._publish_through(client)
            except BUS_ERRORS as error:
                log.warning("publishing_interrupted", detail=str(error))
                self._is_refused = True
            if self._is_refused:
                await asyncio.sleep(RETRY_S)

    async def _publish_through(self, client: BusClient) -> None:
        """Publishes until the connection ends or an event is refused: the stream may be missing."""
        await ensure_events_stream(client, self._bus.replicas)
        self._is_refused = False
        inbox = client.new_inbox()
        async with client.hearing(f"{inbox}.*", self._confirm):
            try:
                while client.is_connected and not self._is_refused and not self._is_stopping:
                    await asyncio.sleep(_GATHER_S)
                    self._wake.clear()
                    self._give_up_overdue()
                    if client.is_connected:
                        await self._send(client, inbox)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(_LOOK_EVERY_S):
                            await self._wake.wait()
            finally:
                self._give_up_all()

    async def _send(self, client: BusClient, inbox: str) -> None:
        """Sends as many letters as may wait for their confirmations, in one write."""
        messages = []
        while self._queue and len(self._outstanding) < OUTSTANDING_MAX:
            letter = self._queue.popleft()
            self._queue_bytes -= len(letter.payload) + _LETTER_BYTES
            messages.append(self._packed(letter, inbox))
            if len(letter.payload) > client.max_payload:
                raise nats.errors.MaxPayloadError
        if messages:
            await client.send(messages)

    def _packed(self, letter: Letter, inbox: str) -> bytes:
        """The letter as it travels, entered among those that wait for their confirmations."""
        self._sent += 1
        span = tracing.span("nats publish", "producer", letter.traceparent, version=letter.entry.version)
        self._outstanding[self._sent] = _Sent(letter.entry, time.monotonic(), span)
        headers = {MESSAGE_ID: letter.message_id}
        if span.traceparent:
            headers[TRACEPARENT] = span.traceparent
        reply = f"{inbox}.{self._sent}".encode()
        return packed(letter.subject.encode(), letter.payload, reply=reply, headers=packed_headers(headers))

    def _confirm(self, answer: Delivery) -> None:
        sent = self._outstanding.pop(int(answer.subject.rpartition(b".")[2]), None)
        if sent is None:  # given up before
            return
        confirmed = _is_confirmation(answer.data)
        if not confirmed and not self._is_refused:
            self._is_refused = True
            log.warning("event_refused", detail=answer.data.decode(errors="replace") or "no such stream")
        self._close(sent, confirmed)
        if len(self._outstanding) == OUTSTANDING_MAX - 1 or self._is_refused:
            self._wake.set()

    def _give_up_overdue(self) -> None:
        sent_before = time.monotonic() - self._ack_s_max
        while self._outstanding:
            number, sent = next(iter(self._outstanding.items()))
            if sent.at > sent_before:
                return
            del self._outstanding[number]
            self._close(sent, False)

    def _give_up_all(self) -> None:
        for sent in self._outstanding.values():
            self._close(sent, False)
        self._outstanding.clear()

    def _close(self, sent: _Sent, confirmed: bool) -> None:
        if not confirmed:
            sent.span.fail("unconfirmed")
        sent.span.end()
        self._settle(sent.entry, confirmed)


class _Answer(Struct):
    error: Raw | None = None


_read_answer = msgspec.json.Decoder(_Answer).decode


def _is_confirmation(data: bytes) -> bool:
    try:
        return bool(data) and _read_answer(data).error is None
    except msgspec.MsgspecError:
        return False
