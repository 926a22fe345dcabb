"""Publishes appended events behind the back of the commands: nothing on the path of a move waits for NATS.

An event is in the outbox from its append until JetStream has confirmed it. `publish` sends it at once;
what gets lost on the way (NATS is down, the worker dies, the queue is full) is found in the outbox by
the sweeper of any worker of the same owner. So events come at least once, and now and then out of order.
"""

import asyncio
import contextlib

import msgspec
import structlog
from msgspec import Struct
from prometheus_client import Counter, Gauge

from services.core.errors import Overloaded, StoreUnavailable
from services.core.events import Entry
from services.core.ids import StreamName
from services.kit import tracing
from services.kit.bus import Bus
from services.kit.bus_events import message_id, subject
from services.kit.bus_publisher import ACK_S_MAX, Letter, Publisher
from services.kit.relay_sweeper import OLDER_S, SWEEP_EVERY_S, Payload, Sweeper
from services.kit.store import EventStore, Owner, Published
from services.kit.tasks import ended

log = structlog.get_logger()

FORGET_EVERY_S = 0.05  # confirmations of that long leave the outbox together
STOP_S_MAX = 2.0

LAG = Gauge("relay_lag_events", "Events that this process has yet to see confirmed by the bus", ["owner"])
DROPPED = Counter("relay_dropped_events", "Events left to the sweeper because the queue was full", ["owner"])


class Relay:
    """One owner's events on their way to the bus. `payload` makes anew what a dead worker left unsent."""

    def __init__(
        self,
        bus: Bus,
        store: EventStore,
        owner: Owner,
        payload: Payload,
        *,
        older_s: float = OLDER_S,
        sweep_every_s: float = SWEEP_EVERY_S,
        ack_s_max: float = ACK_S_MAX,
    ) -> None:
        self._bus = bus
        self._store = store
        self._owner = owner
        self._in_hand: set[Published] = set()  # accepted, and not yet out of the outbox or given up
        self._confirmed: list[Published] = []
        self._is_any_confirmed = asyncio.Event()
        self._is_nothing_in_hand = asyncio.Event()
        self._publisher = Publisher(bus, self._settle, ack_s_max=ack_s_max)
        self._sweeper = Sweeper(bus, store, owner, payload, self, older_s, sweep_every_s)
        self._tasks: list[asyncio.Task[None]] = []
        self._dropped = DROPPED.labels(owner)
        LAG.labels(owner).set_function(lambda: len(self._in_hand))

    def start(self) -> None:
        loops = (self._publisher.keep_publishing(), self._keep_forgetting(), self._sweeper.keep_sweeping())
        self._tasks = [asyncio.create_task(loop) for loop in loops]

    async def stop(self) -> None:
        """Gives what is in hand a moment to be confirmed; what is not is left to others' sweepers."""
        if self._in_hand and self._bus.is_connected:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_S_MAX):
                    await self._is_nothing_in_hand.wait()
        self._publisher.stop()
        await ended(*self._tasks)

    def publish(self, stream: StreamName, entry: Entry, payload: bytes) -> None:
        """Sends an event that has been appended. Never waits and never fails: the outbox has it."""
        published = Published(stream, entry.version)
        if published in self._in_hand:
            return
        letter = Letter(
            published, subject(self._owner, stream), message_id(stream, entry), payload, _traceparent(entry)
        )
        if self._publisher.offer(letter):
            self._in_hand.add(published)
            self._is_nothing_in_hand.clear()
        else:
            self._dropped.inc()

    def has_in_hand(self, entry: Published) -> bool:
        return entry in self._in_hand

    def _settle(self, entry: Published, confirmed: bool) -> None:
        if confirmed:
            self._confirmed.append(entry)
            self._is_any_confirmed.set()
        else:
            self._let_go([entry])

    async def _keep_forgetting(self) -> None:
        """Takes confirmed events out of the outbox, in batches."""
        while True:
            await self._is_any_confirmed.wait()
            await asyncio.sleep(FORGET_EVERY_S)
            self._is_any_confirmed.clear()
            batch, self._confirmed = self._confirmed, []
            try:
                await self._store.outbox_done(self._owner, batch)
            except (StoreUnavailable, Overloaded) as error:
                log.warning("outbox_not_emptied", owner=self._owner, events=len(batch), detail=str(error))
            self._let_go(batch)

    def _let_go(self, entries: list[Published]) -> None:
        self._in_hand.difference_update(entries)
        if not self._in_hand:
            self._is_nothing_in_hand.set()


class _Traced(Struct):
    traceparent: str = ""


_read_traced = msgspec.json.Decoder(_Traced).decode


def _traceparent(entry: Entry) -> str:
    """The trace of the command that caused the event; not looked for while nobody traces."""
    return _read_traced(entry.body).traceparent if tracing.is_on() else ""
