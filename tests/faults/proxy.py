"""A TCP proxy on 127.0.0.1 whose connections can be reset at any moment, in the middle of a request too."""

import asyncio
import random
import socket
import struct

HOST = "127.0.0.1"


class _Side(asyncio.Protocol):
    """One end of a proxied connection: what comes in here goes out at `other`."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: _Side | None = None
        self._early: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        for data in self._early:
            transport.write(data)

    def send(self, data: bytes) -> None:
        if self.transport is None:
            self._early.append(data)
        else:
            self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.send(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()

    def reset(self) -> None:
        """Ends the connection with RST: whatever was on its way is gone."""
        if self.transport is not None and not self.transport.is_closing():
            raw = self.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()


class Proxy:
    """Stands before the server on `target`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._clients: set[_Client] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.url = ""

    async def start(self) -> None:
        self._server = await asyncio.get_running_loop().create_server(self._client, HOST, 0)
        self.url = f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self.reset_some(random.Random(0), 1.0)

    def reset_some(self, rng: random.Random, share: float) -> int:
        """Resets all connections with a request under way, and that share of the idle ones, at both ends.

        Returns how many requests were under way.
        """
        open_ = [client for client in self._clients if client.transport is not None]
        chosen = [client for client in open_ if client.is_waiting or rng.random() < share]
        for client in chosen:
            self._clients.discard(client)
            for end in (client, client.other):
                if end is not None:
                    end.reset()
        return sum(client.is_waiting for client in chosen)

    def _client(self) -> "_Client":
        near, far = _Client(self), _Server()
        near.other, far.other = far, near
        joining = asyncio.get_running_loop().create_task(self._join(near, far))
        self._joining.add(joining)
        joining.add_done_callback(self._joining.discard)
        self._clients.add(near)
        return near

    async def _join(self, near: _Side, far: _Side) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: far, HOST, self._target)
        except OSError:
            near.reset()

    def forget(self, side: "_Client") -> None:
        self._clients.discard(side)


class _Client(_Side):
    """The end towards a client. `is_waiting`: it has sent something since it last heard anything."""

    def __init__(self, proxy: Proxy) -> None:
        super().__init__()
        self.is_waiting = False
        self._proxy = proxy

    def data_received(self, data: bytes) -> None:
        self.is_waiting = True
        super().data_received(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._proxy.forget(self)
        super().connection_lost(error)


class _Server(_Side):
    """The end towards the server."""

    def data_received(self, data: bytes) -> None:
        if isinstance(self.other, _Client):
            self.other.is_waiting = False
        super().data_received(data)
