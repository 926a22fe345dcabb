"""NATS core subscriptions that outlive NATS: it may be away at the start, and come and go."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription

from services.kit.bus import nats_login, nats_servers

FIRST_CONNECT_S_MAX = 2.0
CONFIRM_S_MAX = 1
RECONNECT_S = 1
# Of one subject, between two turns of the loop; what is dropped beyond them heals as a gap.
PENDING_MAX = 256
PENDING_BYTES_MAX = 4 << 20

_log = structlog.get_logger()


@dataclass(eq=False)
class Subscription:
    """Interest in a subject; `heed` gets each payload."""

    subject: str
    heed: Callable[[bytes], None]
    at_nats: NatsSubscription | None = None

    async def got(self, message: Msg) -> None:
        self.heed(message.data)


class Pushes:
    """Subscriptions by subject. `on_connected` is called after each (re)connection."""

    def __init__(self, url: str, on_connected: Callable[[], None]) -> None:
        self._url = url
        self._on_connected = on_connected
        self._nats = Client()
        self._wanted: set[Subscription] = set()
        self._was_connected = False
        self._is_closing = False

    @classmethod
    @asynccontextmanager
    async def opened(cls, url: str, on_connected: Callable[[], None]) -> AsyncIterator["Pushes"]:
        """Connects in the background when NATS does not answer soon."""
        pushes = cls(url, on_connected)
        connecting = asyncio.create_task(pushes._connect())
        await asyncio.wait((connecting,), timeout=FIRST_CONNECT_S_MAX)
        try:
            yield pushes
        finally:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            pushes._is_closing = True
            if pushes._was_connected:
                await pushes._nats.close()

    @property
    def is_connected(self) -> bool:
        return self._was_connected and bool(self._nats.is_connected)

    async def subscribe(self, subject: str, heed: Callable[[bytes], None]) -> Subscription:
        """Returns once NATS has the subscription, or after a moment if it is away: it follows then."""
        wanted = Subscription(subject, heed)
        self._wanted.add(wanted)
        if self._was_connected:
            await self._subscribe(wanted)
            await self._confirm()
        return wanted

    async def unsubscribe(self, subscription: Subscription) -> None:
        self._wanted.discard(subscription)
        if subscription.at_nats is not None and not self._nats.is_closed:
            await subscription.at_nats.unsubscribe()

    async def _connect(self) -> None:
        user, password = nats_login(self._url)
        await self._nats.connect(
            nats_servers(self._url),
            user=user,
            password=password,
            name="gateway",
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_S,
            skip_subject_validation=True,  # they are made of ids that were looked up
            error_cb=_complain,
            disconnected_cb=self._lost,
            reconnected_cb=self._found,
        )
        while missing := [wanted for wanted in self._wanted if wanted.at_nats is None]:
            for wanted in missing:
                await self._subscribe(wanted)
        self._was_connected = True
        self._on_connected()

    async def _subscribe(self, wanted: Subscription) -> None:
        wanted.at_nats = await self._nats.subscribe(
            wanted.subject,
            cb=wanted.got,
            pending_msgs_limit=PENDING_MAX,
            pending_bytes_limit=PENDING_BYTES_MAX,
        )
        if wanted not in self._wanted:  # its last follower left meanwhile
            await wanted.at_nats.unsubscribe()

    async def _confirm(self) -> None:
        """Waits until NATS has read everything that was sent to it."""
        if self._nats.is_connected:
            try:
                await self._nats.flush(timeout=CONFIRM_S_MAX)
            except (nats.errors.Error, TimeoutError, OSError):
                _log.warning("push_unconfirmed")

    async def _lost(self) -> None:
        if not self._is_closing:
            _log.warning("nats_lost")

    async def _found(self) -> None:
        _log.info("nats_found")
        self._on_connected()


async def _complain(error: Exception) -> Any:
    """nats-py tells here about failed connections and slow subscribers; both heal by themselves."""
    _log.debug("nats_complained", why=str(error))
