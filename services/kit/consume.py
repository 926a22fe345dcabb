"""Reads published events in batches, each at least once, until its handler has dealt with it.

An outage (ours or a peer's) leaves the batch for later, however long it lasts. An event on which the
handler fails otherwise is tried again by itself, and after some attempts logged, counted and left out.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence

import structlog
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from prometheus_client import Counter, Gauge

from services.core.errors import OUTAGES
from services.kit import request_log, tracing
from services.kit.bus import BUS_ERRORS, Bus
from services.kit.bus_client import BusClient, Delivery
from services.kit.bus_events import ALL_SUBJECTS, STREAM, TRACEPARENT, ensure_events_stream
from services.kit.bus_puller import WAIT_S, Puller, done, later, never, standing
from services.kit.statuses import http_status
from services.kit.tasks import ended

log = structlog.get_logger()

Handle = Callable[[Sequence[bytes]], Awaitable[None]]  # the payloads of a batch, oldest first

BATCH_MAX = 512
HANDLE_S_MAX = 20.0
AGAIN_S = 2.0  # before a batch or an event is tried again
ATTEMPTS_MAX = 5
# After a batch, so that what comes meanwhile shares one trip to JetStream and back: a lone event is dealt
# with soon, and under load the events of one match meet in one batch too (docs/performance.md).
PACE_S = 0.1
CROWD, CROWDED_PACE_S = 64, 0.5
_ACK_WAIT_S = 30.0  # then JetStream takes the reader for dead; more than a handler may take
_RETRY_S = 1.0

LAG = Gauge(
    "consumer_lag_events", "Events that JetStream holds and the consumer has yet to read", ["consumer"]
)
POISONED = Counter("consumer_poisoned_events", "Events left out after failing repeatedly", ["consumer"])


class Consumer:
    """A durable reader: processes that share `name` share its events."""

    def __init__(
        self,
        bus: Bus,
        name: str,
        handle: Handle,
        *,
        subjects: str = ALL_SUBJECTS,
        again_s: float = AGAIN_S,
        attempts_max: int = ATTEMPTS_MAX,
    ) -> None:
        """`handle` must bear repetitions and any order."""
        self._bus = bus
        self._name = name
        self._handle = handle
        self._subjects = subjects
        self._again_s = again_s
        self._attempts_max = attempts_max
        self._is_stopping = False
        self._consuming: asyncio.Task[None] | None = None
        self._lag = LAG.labels(name)
        self._poisoned = POISONED.labels(name)

    def start(self) -> None:
        self._consuming = asyncio.create_task(self._keep_consuming())

    async def stop(self) -> None:
        """Finishes and acknowledges the batch in hand, then returns."""
        self._is_stopping = True
        if self._consuming is None:
            return
        await asyncio.wait([self._consuming], timeout=HANDLE_S_MAX + WAIT_S if self._bus.is_connected else 0)
        await ended(self._consuming)

    async def _keep_consuming(self) -> None:
        while not self._is_stopping:
            client = await self._bus.connected()
            try:
                await self._consume_through(client)
            except BUS_ERRORS as error:
                log.warning("consuming_interrupted", consumer=self._name, detail=str(error))
                await asyncio.sleep(_RETRY_S)

    async def _consume_through(self, client: BusClient) -> None:
        """Consumes until the connection ends. Raises one of BUS_ERRORS when the consumer is gone."""
        await self._ensure_consumer(client)
        async with Puller.opened(client, STREAM, self._name) as puller:
            while client.is_connected and not self._is_stopping:
                if batch := await puller.batch(BATCH_MAX):
                    self._lag.set(standing(batch[-1]).pending)
                    await self._deal_with(client, batch)
                    await asyncio.sleep(_pause_s(len(batch)))

    async def _ensure_consumer(self, client: BusClient) -> None:
        await ensure_events_stream(client, self._bus.replicas)
        await client.jetstream().add_consumer(
            STREAM,
            ConsumerConfig(
                durable_name=self._name,
                filter_subject=self._subjects,
                deliver_policy=DeliverPolicy.ALL,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=_ACK_WAIT_S,
                max_ack_pending=8 * BATCH_MAX,
            ),
        )

    async def _deal_with(self, client: BusClient, batch: Sequence[Delivery]) -> None:
        """Hands over the batch whole; if the handler fails on it, event by event to find the culprit."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(HANDLE_S_MAX):
                with self._traced(batch):
                    await self._handle([delivery.data for delivery in batch])
        except OUTAGES as error:
            self._tell(batch, http_status(error), error.reason, began)
            await self._leave_for_later(client, batch, error)
        except Exception as error:
            self._tell(batch, 500, type(error).__name__, began)
            if len(batch) == 1:
                await self._put_aside(client, batch[0], error)
            else:
                await self._deal_with_each(client, batch)
        else:
            self._tell(batch, 200, "OK", began)
            await client.send([done(delivery) for delivery in batch])

    def _tell(self, batch: Sequence[Delivery], status: int, code: str, began: float) -> None:
        took_s = time.perf_counter() - began
        level = request_log.level(status, took_s)
        if level is not None:
            request_log.tell(level, "batch", self._name, code, took_s, events=len(batch))

    def _traced(self, batch: Sequence[Delivery]) -> contextlib.ExitStack:
        """A span in the trace of each event that comes with one."""
        spans = contextlib.ExitStack()
        if tracing.is_on():
            for delivery in batch:
                told = delivery.header(TRACEPARENT)
                spans.enter_context(tracing.span(f"{self._name} consume", "consumer", told))
        return spans

    async def _deal_with_each(self, client: BusClient, batch: Sequence[Delivery]) -> None:
        for delivery in batch:
            if self._is_stopping:  # JetStream brings the rest again
                return
            await self._deal_with(client, [delivery])

    async def _leave_for_later(self, client: BusClient, batch: Sequence[Delivery], error: Exception) -> None:
        log.warning("events_deferred", consumer=self._name, events=len(batch), detail=str(error))
        await client.send([later(delivery, self._again_s) for delivery in batch])
        await asyncio.sleep(self._again_s)

    async def _put_aside(self, client: BusClient, delivery: Delivery, error: Exception) -> None:
        attempt, subject = standing(delivery).attempt, delivery.subject.decode()
        if attempt < self._attempts_max:
            log.warning("event_failed", consumer=self._name, subject=subject, attempt=attempt)
            await client.send([later(delivery, self._again_s)])
            return
        log.error("event_poisoned", consumer=self._name, subject=subject, exc_info=error)
        self._poisoned.inc()
        await client.send([never(delivery)])


def _pause_s(events: int) -> float:
    """How long to let events gather after a batch of so many; a full one was not the last of its crowd."""
    if events == BATCH_MAX:
        return 0.0
    return CROWDED_PACE_S if events >= CROWD else PACE_S
