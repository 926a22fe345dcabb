"""Finds in the outbox what nobody has published: the events of dead workers and of times without NATS."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import structlog
from prometheus_client import Gauge

from services.core.errors import DomainError, Overloaded, StoreUnavailable
from services.core.events import Entry
from services.core.ids import StreamName
from services.kit.bus import Bus
from services.kit.store import After, EventStore, Owner, Published

log = structlog.get_logger()

# The event at a version as the world may see it; raises a DomainError when that cannot be told now.
Payload = Callable[[StreamName, int], Awaitable[bytes]]

# Longer than a confirmation may take (5 s) and an event's `at` may lie in the past (5 s): what is older
# is in nobody's hands.
OLDER_S = 12.0
SWEEP_EVERY_S = 3.0
SWEEP_MAX = 500
_BACKLOG_EVERY_S = 0.5

OVERDUE = Gauge("relay_overdue_events", "Events the last sweep found unpublished, 500 at most", ["owner"])


class Outlet(Protocol):
    """Where found events go: the relay."""

    def publish(self, stream: StreamName, entry: Entry, payload: bytes) -> None: ...

    def has_in_hand(self, entry: Published) -> bool: ...


class Sweeper:
    """Every worker of an owner has one. Two that find the same event publish it twice, which harms nobody."""

    def __init__(
        self,
        bus: Bus,
        store: EventStore,
        owner: Owner,
        payload: Payload,
        outlet: Outlet,
        older_s: float = OLDER_S,
        sweep_every_s: float = SWEEP_EVERY_S,
    ) -> None:
        self._bus = bus
        self._store = store
        self._owner = owner
        self._payload = payload
        self._outlet = outlet
        self._older_ms = round(older_s * 1000)
        self._sweep_every_s = sweep_every_s
        self._overdue = OVERDUE.labels(owner)

    async def keep_sweeping(self) -> None:
        """Until it is cancelled; with a backlog the rounds follow each other sooner."""
        found = 0
        while True:
            pause_s = _BACKLOG_EVERY_S if found == SWEEP_MAX else self._sweep_every_s
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.5))  # so that workers do not sweep in step
            try:
                found = await self.sweep()
            except (StoreUnavailable, Overloaded) as error:
                log.warning("sweep_failed", owner=self._owner, detail=str(error))

    async def sweep(self) -> int:
        """Publishes what is overdue, at most SWEEP_MAX events, and returns how many that were."""
        if not self._bus.is_connected:
            return 0
        now_ms = time.time_ns() // 1_000_000
        overdue = await self._store.outbox_due(self._owner, now_ms - self._older_ms, SWEEP_MAX)
        self._overdue.set(len(overdue))
        await self._publish([entry for entry in overdue if not self._outlet.has_in_hand(entry)])
        return len(overdue)

    async def _publish(self, overdue: Sequence[Published]) -> None:
        stored = await self._store.read_many(
            [After(stream, version - 1) for stream, version in overdue], limit=1
        )
        gone: list[Published] = []
        for published, entries in zip(overdue, stored, strict=True):
            if entries and entries[0].version == published.version:
                await self._republish(published, entries[0])
            else:
                gone.append(published)
        if gone:  # the stream has lost its tail, the outbox has not
            log.error("events_lost", owner=self._owner, events=len(gone), first=gone[0])
            await self._store.outbox_done(self._owner, gone)

    async def _republish(self, published: Published, entry: Entry) -> None:
        stream, version = published
        try:
            payload = await self._payload(stream, version)
        except DomainError as error:
            log.warning("event_not_published", stream=stream, version=version, reason=error.reason)
        else:
            self._outlet.publish(stream, entry, payload)
