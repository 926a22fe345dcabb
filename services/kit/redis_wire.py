"""One connection to Redis: parcels of commands go out joined, and their replies come back in order.

redis-py is not used on this path: around the same packer and parser it costs several times as much CPU.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

from services.core.errors import StoreUnavailable
from services.kit.redis_resp import RedisRefused, Reply, ReplyReader, command

WAIT_MS_MAX = 1_000  # for replicas; well below what a whole trip may take
# What a server says that is a replica, has become one, or has lost the replicas it must have.
_NOT_PRIMARY = {"READONLY", "MASTERDOWN", "UNBLOCKED", "NOREPLICAS"}


class Parcel:
    """Commands of one caller that travel together, and the future of their replies."""

    __slots__ = ("commands", "future", "is_held", "payload", "replies")

    def __init__(self, payload: bytes, commands: int, future: asyncio.Future[list[Reply]]) -> None:
        self.payload = payload
        self.commands = commands
        self.replies: list[Reply] = []
        self.future = future
        self.is_held = False  # until its witness has spoken

    def arrived(self) -> None:
        """Called with all replies in."""
        if not self.is_held and not self.future.done():
            self.future.set_result(self.replies)

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Witness(Parcel):
    """The last parcel of a trip: holds back what the others brought until enough replicas have it.

    What a trip has read is held back as well: it may be the entry whose writer was never answered.
    """

    __slots__ = ("_parcels", "_replicas")

    def __init__(self, parcels: Sequence[Parcel], replicas: int) -> None:
        future: asyncio.Future[list[Reply]] = asyncio.get_running_loop().create_future()
        super().__init__(command("WAIT", replicas, WAIT_MS_MAX), 1, future)
        self._parcels = parcels
        self._replicas = replicas
        for parcel in parcels:
            parcel.is_held = True

    def arrived(self) -> None:
        (found,) = self.replies
        if not isinstance(found, int) or found < self._replicas:
            self.fail(StoreUnavailable("too few replicas have it; the outcome is unknown"))
            return
        for parcel in self._parcels:
            parcel.is_held = False
            parcel.arrived()

    def fail(self, error: Exception) -> None:
        for parcel in self._parcels:
            parcel.fail(error)


class RedisWire(asyncio.Protocol):
    """One connection. `on_idle` is called when all replies are in, `on_lost` once, when it has ended."""

    def __init__(self, on_idle: Callable[[], None], on_lost: Callable[["RedisWire"], None]) -> None:
        self._on_idle = on_idle
        self._on_lost = on_lost
        self._reader = ReplyReader()
        self._transport: asyncio.Transport | None = None
        self.travelling: deque[Parcel] = deque()
        self.is_lost = False
        self.is_stale = False  # the other end is no primary, or not fit to be one

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance

    def send(self, parcels: Sequence[Parcel]) -> None:
        assert self._transport is not None
        self.travelling.extend(parcels)
        self._transport.write(b"".join([parcel.payload for parcel in parcels]))

    def data_received(self, data: bytes) -> None:
        try:
            replies = self._reader.feed(data)
        except ValueError:
            self.abort()
            return
        for reply in replies:
            if not self.travelling:  # nobody asked: Redis turns a client away
                self.abort()
                return
            parcel = self.travelling[0]
            parcel.replies.append(reply)
            if len(parcel.replies) == parcel.commands:
                self.travelling.popleft()
                if type(reply) is RedisRefused and reply.code in _NOT_PRIMARY:
                    self.is_stale = True
                parcel.arrived()
        if not self.travelling:
            self._on_idle()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True
        for parcel in self.travelling:
            parcel.fail(StoreUnavailable("the connection was lost on the way; the outcome is unknown"))
        self.travelling.clear()
        self._on_lost(self)

    def abort(self) -> None:
        """Ends the connection; what travels has an unknown outcome."""
        if self._transport:
            self._transport.abort()
