"""Clients that cost next to nothing, so that a generator on one core is never what limits the system."""

import asyncio
import base64
import os
from collections.abc import Callable, Mapping

_TEXT, _CLOSE, _PING, _PONG = 0x81, 0x88, 0x89, 0x8A
_NO_MASK = b"\0\0\0\0"  # a client has to mask; this mask changes nothing


class Broken(Exception):
    """The server hung up or said something that these clients do not speak."""


class HttpClient(asyncio.Protocol):
    """One keep-alive connection, one request at a time. Understands Content-Length alone.

    A server closes connections that rest for long: the next request then makes another.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    @classmethod
    async def connect(cls, host: str, port: int) -> "HttpClient":
        client = cls(host, port)
        await client._reach()
        return client

    async def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = {}
    ) -> tuple[int, bytes]:
        """Status and body of the answer. The request goes out twice if the server closes as it leaves."""
        assert self._answer is None, "one request at a time"
        if self._transport is None:
            await self._reach()
        try:
            return await self._asked(method, path, body, headers)
        except Broken:
            await self._reach()
            return await self._asked(method, path, body, headers)

    async def _reach(self) -> None:
        await asyncio.get_running_loop().create_connection(lambda: self, self._host, self._port)

    def _asked(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> asyncio.Future[tuple[int, bytes]]:
        assert self._transport is not None
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(head.encode() + body)
        return self._answer

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._received += data
        head_end = self._received.find(b"\r\n\r\n")
        if head_end < 0 or self._answer is None:
            return
        head = self._received[:head_end].lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r")[0])
        end = head_end + 4 + length
        if len(self._received) >= end:
            answer, self._answer = self._answer, None
            body, self._received = self._received[head_end + 4 : end], self._received[end:]
            answer.set_result((int(head[9:12]), body))

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._received = b""
        answer, self._answer = self._answer, None
        if answer and not answer.done():
            answer.set_exception(Broken(f"the connection was lost: {error}"))


class WebSocket(asyncio.Protocol):
    """One WebSocket; `heed` gets every whole text message."""

    def __init__(self, heed: Callable[[bytes], None]) -> None:
        self._heed = heed
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._is_closing = False
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def connect(
        cls, host: str, port: int, path: str, token: str, heed: Callable[[bytes], None]
    ) -> "WebSocket":
        _, socket = await asyncio.get_running_loop().create_connection(lambda: cls(heed), host, port)
        assert socket._transport is not None
        key = base64.b64encode(os.urandom(16)).decode()
        socket._transport.write(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        await socket._opened
        return socket

    def send(self, text: bytes, opcode: int = _TEXT) -> None:
        assert self._transport is not None
        size = len(text)
        length = bytes((0x80 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
        self._transport.write(bytes((opcode,)) + length + _NO_MASK + text)

    def close(self) -> None:
        self._is_closing = True
        if self._transport:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._received = self._received + data if self._received else data
        if not self._opened.done() and not self._read_head():
            return
        while (frame := _frame(self._received)) is not None:
            opcode, payload, end = frame
            self._received = self._received[end:]
            if opcode == _TEXT:
                self._heed(payload)
            elif opcode == _PING:
                self.send(payload, _PONG)
            elif opcode != _PONG:
                raise Broken(f"the server sent opcode {opcode:#x}: {payload[:200]!r}")

    def connection_lost(self, error: Exception | None) -> None:
        if not self._opened.done():
            self._opened.set_exception(Broken("no WebSocket was opened"))
        elif not self._is_closing:
            raise Broken(f"a WebSocket was lost: {error}")

    def _read_head(self) -> bool:
        head, found, rest = self._received.partition(b"\r\n\r\n")
        if not found:
            return False
        if b" 101 " in head[:20]:
            self._opened.set_result(None)
        else:
            self._opened.set_exception(Broken(f"no WebSocket was opened: {head[:100]!r}"))
        self._received = rest
        return True


def _frame(data: bytes) -> tuple[int, bytes, int] | None:
    """Opcode, payload and end of the first frame; None while it is not whole."""
    if len(data) < 2:
        return None
    size, at = data[1], 2
    if size == 126:
        size, at = int.from_bytes(data[2:4], "big"), 4
    elif size == 127:
        size, at = int.from_bytes(data[2:10], "big"), 10
    end = at + size
    return (data[0], data[at:end], end) if len(data) >= end else None
