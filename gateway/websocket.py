"""uvicorn's WebSocket protocol, with a way to get rid of a peer that has stopped reading."""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode
from websockets.http11 import Request

SAY = "waystation.say"  # in scope["extensions"]: an async function (text as UTF-8)
DROP = "waystation.drop"  # in scope["extensions"]: a function (code, reason)
# How long a close frame may wait behind what the peer has not read: as often as the peer has read some of it.
LINGER_S = 5.0
LINGERS_MAX = 6


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """ASGI's own close waits until the peer has read everything, which a slow one never does."""

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not _is_utf8(self.frames):
            self.frames = []
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()  # without a traceback in the log for what a peer has sent
        else:
            super().send_receive_event_to_app()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"][SAY] = {"now": self.say}
            self.scope["extensions"][DROP] = {"now": self.drop}

    async def say(self, text: bytes) -> None:
        """Sends a text without ASGI's layers, which would decode it, copy it and encode it again."""
        await self.writable.wait()
        if self.disconnected or self.close_sent:
            raise ConnectionResetError("the peer has gone")
        try:
            self.conn.send_text(text)
        except InvalidState:
            raise ConnectionResetError("the peer has gone") from None
        self.transport.write(b"".join(self.conn.data_to_send()))

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


def _is_utf8(frames: list[bytes]) -> bool:
    data = b"".join(frames)
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
