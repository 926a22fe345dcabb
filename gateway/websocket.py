"""uvicorn's WebSocket protocol: a short way for texts, and a way to get rid of a peer that does not read."""

from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode, Opcode
from websockets.http11 import Request
from websockets.protocol import OPEN

SAY = "waystation.say"  # in scope["extensions"]: an async function (texts as UTF-8)
DROP = "waystation.drop"  # in scope["extensions"]: a function (code, reason)
# Frames that wait for the application before reading pauses: that costs two calls of the kernel each time.
AHEAD_MAX = 4
# How long a close frame may wait behind what the peer has not read: as often as the peer has read some of it.
LINGER_S = 5.0
LINGERS_MAX = 6


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """ASGI's own close waits until the peer has read everything, which a slow one never does."""

    def send_receive_event_to_app(self) -> None:
        """Hands a text on as the bytes that it came in, for whoever parses it wants those."""
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        if self.close_sent:
            return
        if self.curr_msg_data_type == "text" and not _is_utf8(data):
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()  # without a traceback in the log for what a peer has sent
            return
        self.queue.put_nowait({"type": "websocket.receive", "bytes": data})
        if not self.read_paused and self.queue.qsize() >= AHEAD_MAX:
            self.read_paused = True
            self.transport.pause_reading()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"][SAY] = {"now": self.say}
            self.scope["extensions"][DROP] = {"now": self.drop}

    async def say(self, texts: Sequence[bytes]) -> None:
        """Sends texts in one write, without ASGI's layers: those would decode, copy and encode each again."""
        await self.writable.wait()
        if self.disconnected or self.close_sent or self.conn.state is not OPEN:
            raise ConnectionResetError("the peer has gone")
        self.transport.write(b"".join([part for text in texts for part in (head_of_text(len(text)), text)]))

    def drop(self, code: int, reason: str) -> None:
        """Sends a close frame behind whatever waits, and cuts the connection soon after."""
        if self.close_sent or self.disconnected:
            return
        try:
            self.conn.send_close(code, reason)
        except InvalidState:
            return
        self.close_sent = True
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self._linger(LINGERS_MAX)

    def _linger(self, times: int) -> None:
        unread = self.transport.get_write_buffer_size()
        self.close_timer = self.loop.call_later(LINGER_S, self._let_go, unread, times - 1)

    def _let_go(self, unread_before: int, times: int) -> None:
        unread = self.transport.get_write_buffer_size()
        if unread == 0:
            self.transport.close()
        elif times > 0 and unread < unread_before:
            self._linger(times)
        else:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        if self.close_sent and message["type"] == "websocket.send":
            raise ConnectionResetError("the connection was dropped")
        await super().send(message)


def head_of_text(length: int) -> bytes:
    """What goes before a whole text of a server without extensions: RFC 6455, section 5.2."""
    first = 0x80 | Opcode.TEXT
    if length < 126:
        return bytes((first, length))
    if length < 1 << 16:
        return bytes((first, 126)) + length.to_bytes(2, "big")
    return bytes((first, 127)) + length.to_bytes(8, "big")


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
