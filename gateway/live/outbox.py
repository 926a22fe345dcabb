"""Frames on their way to one client: a bounded queue between whoever has news and the connection's writer."""

import asyncio
from collections import deque

from gateway.live.frames import Frame

FRAMES_MAX = 512
BYTES_MAX = 1 << 20
TOGETHER_BYTES_MAX = 64 * 1024


class OutboxFull(Exception):
    """The client reads more slowly than its matches go on."""


class Outbox:
    """First in, first out. A single frame always fits."""

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._size = 0
        self._taker: asyncio.Future[None] | None = None
        self.is_closed = False

    def put(self, frame: Frame) -> None:
        """Raises OutboxFull. After `close` nothing is taken any more."""
        if self.is_closed:
            return
        if self._frames and (len(self._frames) >= FRAMES_MAX or self._size + len(frame.body) > BYTES_MAX):
            raise OutboxFull
        self._frames.append(frame)
        self._size += len(frame.body)
        self._wake()

    def close(self) -> None:
        """What was put before can still be taken."""
        self.is_closed = True
        self._wake()

    def abandon(self) -> None:
        """Closes, and forgets what nobody has taken."""
        self.close()
        self._frames.clear()

    async def take(self) -> list[Frame]:
        """The next frames, as soon as there are some: all that wait, within bounds; none after the last."""
        while not self._frames:
            if self.is_closed:
                return []
            self._taker = asyncio.get_running_loop().create_future()
            await self._taker
        taken = [self._frames.popleft()]
        size = len(taken[0].body)
        while self._frames and size + len(self._frames[0].body) <= TOGETHER_BYTES_MAX:
            taken.append(self._frames.popleft())
            size += len(taken[-1].body)
        self._size -= size
        return taken

    def _wake(self) -> None:
        if self._taker is not None and not self._taker.done():
            self._taker.set_result(None)
