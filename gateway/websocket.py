"""uvicorn's WebSocket protocol: a short way for texts, and a way to get rid of a peer that does not read."""

import asyncio
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import OPEN

from gateway.whole_frames import Walk, head_of_text, text_of

HEAR = "waystation.hear"  # in scope["extensions"]: an async function: the next ASGI message, texts as bytes
SAY = "waystation.say"  # in scope["extensions"]: an async function (texts as UTF-8)
DROP = "waystation.drop"  # in scope["extensions"]: a function (code, reason)
# Messages that wait for the application before reading pauses: that costs two calls of the kernel each time.
AHEAD_MAX = 4
END_OF_HEAD = b"\r\n\r\n"
# What came in one read goes to the parser in slices: a read may hold thousands of frames, 42 fit in this.
SLICE_BYTES = 256
# Frames that say nothing (pings, pongs, parts of a message): at once, and how many more a second.
IDLE_FRAMES, IDLE_FRAMES_PER_S = 256, 20
LAST_BYTES = 64 * 1024  # read after our close frame, in search of the peer's
# How long a close frame may wait behind what the peer has not read: as often as the peer has read some of it.
LINGER_S = 5.0
LINGERS_MAX = 6


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """ASGI's own close waits until the peer has read everything, which a slow one never does.

    Nobody is read from faster than the application takes messages, nor for long at a time.
    """

    _unread = b""  # received, and not yet parsed
    _idle_frames = float(IDLE_FRAMES)  # how many more are borne
    _idle_since = 0.0
    _last_bytes = LAST_BYTES
    _is_deaf = False  # nothing is read any more
    # Whether the parser stands between two frames. Its own state does not tell: within a frame of which it
    # has read the head alone it looks the same.
    _is_between_frames = False
    _walk: Walk | None = None  # none: something came with the handshake, and the parser gets everything

    def data_received(self, data: bytes) -> None:
        if (
            self._is_between_frames
            and self._takes_texts
            and (text := text_of(data)) is not None
            and _is_utf8(text)
        ):
            self.queue.put_nowait({"type": "websocket.receive", "bytes": text})
            return
        if self._walk is not None:
            self._is_between_frames = self._walk.ends_with(data)
        elif not self.handshake_initiated and data.partition(END_OF_HEAD)[1:] == (END_OF_HEAD, b""):
            self._walk, self._is_between_frames = Walk(), True
        self._unread = self._unread + data if self._unread else data
        self._parse()

    @property
    def _takes_texts(self) -> bool:
        """Whether a whole text may come now, and finds room."""
        is_open = self.conn.state is OPEN and not (self._is_deaf or self.close_sent or self.disconnected)
        return is_open and not (self.frames or self._unread) and self._has_room

    async def receive(self) -> Any:
        message = await self.queue.get()
        if not self.queue.empty():
            await asyncio.sleep(0)  # others have their turn between two messages of this peer
        elif self.read_paused:
            self.loop.call_soon(self._parse)  # and before more is read of it
        return message

    def _parse(self) -> None:
        """Parses as much as the application has room for; reads on once nothing is left."""
        while self._unread and not self._is_deaf and (self.close_sent or self._has_room):
            part, self._unread = self._unread[:SLICE_BYTES], self._unread[SLICE_BYTES:]
            if self.close_sent:
                self._last_bytes -= len(part)
                self._is_deaf = self._last_bytes < 0
            super().data_received(part)
        if self.disconnected or self.transport.is_closing():
            return
        is_enough = self._is_deaf or bool(self._unread) or not (self.close_sent or self._has_room)
        if is_enough != self.read_paused:
            self.read_paused = is_enough
            (self.transport.pause_reading if is_enough else self.transport.resume_reading)()

    @property
    def _has_room(self) -> bool:
        return self.queue.qsize() < AHEAD_MAX

    def handle_ping(self) -> None:
        if self._bears_idle_frame():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        if self._bears_idle_frame():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        if self._bears_idle_frame():
            super().handle_cont(event)

    def _bears_idle_frame(self) -> bool:
        """False once there were too many; the connection then ends."""
        if self._is_deaf or self.close_sent:
            return False
        now = self.loop.time()
        gained = (now - self._idle_since) * IDLE_FRAMES_PER_S
        self._idle_frames = min(float(IDLE_FRAMES), self._idle_frames + gained) - 1
        self._idle_since = now
        if self._idle_frames < 0:
            self._is_deaf = True
            self._unread = b""
            self.frames = []
            self.drop(CloseCode.POLICY_VIOLATION, "too many frames that say nothing")
        return not self._is_deaf

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

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"][HEAR] = {"now": self.receive}
            self.scope["extensions"][SAY] = {"now": self.say}
            self.scope["extensions"][DROP] = {"now": self.drop}

    async def say(self, texts: Sequence[bytes]) -> None:
        """Sends texts in one write, without ASGI's layers: those would decode, copy and encode each again."""
        if not self.writable.is_set():
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
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # by an answer; uvicorn would complain that there was none


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
