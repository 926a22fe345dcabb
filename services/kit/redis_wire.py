"""One connection to Redis: parcels of commands go out joined, and their replies come back in order.

redis-py is not used on this path: packing and parsing cost it several times the CPU of these files.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast

from services.core.errors import StoreUnavailable
from services.kit.redis_resp import Reply, ReplyReader


class Parcel:
    """Commands of one caller that travel together, and the future of their replies."""

    __slots__ = ("commands", "future", "payload", "replies")

    def __init__(self, payload: bytes, commands: int, future: asyncio.Future[list[Reply]]) -> None:
        self.payload = payload
        self.commands = commands
        self.replies: list[Reply] = []
        self.future = future

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class RedisWire(asyncio.Protocol):
    """One connection. `on_idle` is called when all replies are in, `on_lost` once, when it has ended."""

    def __init__(self, on_idle: Callable[[], None], on_lost: Callable[["RedisWire"], None]) -> None:
        self._on_idle = on_idle
        self._on_lost = on_lost
        self._reader = ReplyReader()
        self._transport: asyncio.Transport | None = None
        self.travelling: deque[Parcel] = deque()
        self.is_lost = False

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
                if not parcel.future.done():
                    parcel.future.set_result(parcel.replies)
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
