"""nats-py's client with a short way for what comes and goes by the hundred: events and their confirmations.

On nats-py's own way each one that comes costs parsed headers, a queue and a task's turn (two tasks more if it
is fetched), and each one that goes a check of its headers and a look at the flusher. The short way reaches
into nats-py, here and nowhere else; tests/kit/test_bus_client.py tells if another version is built otherwise.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import NamedTuple

import nats.errors
from nats.aio.client import Client


class Delivery(NamedTuple):
    """A message as it came. `headers`: as on the wire, empty for none."""

    subject: bytes
    reply: bytes
    data: bytes
    headers: bytes

    @property
    def status(self) -> bytes:
        """Three digits when it is the server that speaks, not a publisher; else empty."""
        return self.headers[9:12] if self.headers.startswith(b"NATS/1.0 ") else b""

    def header(self, name: str) -> str:
        """Its value; empty when there is none."""
        for line in self.headers.decode(errors="replace").splitlines():
            found, _, value = line.partition(": ")
            if found == name:
                return value
        return ""


Hear = Callable[[Delivery], None]  # called as a message comes in


class BusClient(Client):
    """A `Client` in every other respect."""

    def __init__(self) -> None:
        super().__init__()
        self._hearers: dict[int, Hear] = {}  # by subscription

    @contextlib.asynccontextmanager
    async def hearing(self, subject: str, hear: Hear) -> AsyncIterator[None]:
        """Calls `hear` with what comes for `subject`, over reconnections too."""
        subscription = await self.subscribe(subject)
        self._hearers[subscription._id] = hear
        try:
            yield
        finally:
            del self._hearers[subscription._id]
            with contextlib.suppress(
                nats.errors.Error
            ):  # the connection is gone, and the subscription with it
                await subscription.unsubscribe()

    async def send(self, messages: Sequence[bytes]) -> None:
        """Sends what `packed` has made, in one write; after a lost connection with the next one."""
        if self.is_closed:
            raise nats.errors.ConnectionClosedError
        await self._send_command(b"".join(messages))
        await self._flush_pending()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        hear = self._hearers.get(sid)
        if hear is None:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        try:
            hear(Delivery(subject, reply, data, headers or b""))
        except Exception as error:  # what nobody expected must not end the reading of all else
            await self._error_cb(error)


def packed(subject: bytes, payload: bytes = b"", *, reply: bytes = b"", headers: bytes = b"") -> bytes:
    """A message as it travels. `headers`: what `packed_headers` has made."""
    if not headers:
        return b"PUB %b %b %d\r\n%b\r\n" % (subject, reply, len(payload), payload)
    size = len(headers)
    return b"HPUB %b %b %d %d\r\n%b%b\r\n" % (subject, reply, size, size + len(payload), headers, payload)


def packed_headers(headers: Mapping[str, str]) -> bytes:
    """Headers as they travel; neither names nor values may have line ends in them."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    return f"NATS/1.0\r\n{lines}\r\n".encode()
