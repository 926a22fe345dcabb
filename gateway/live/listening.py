"""A client that only listens to one match: the frames of a socket, as server-sent events."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack

from gateway.callers import Reader
from gateway.live.following import Following, Sight
from gateway.live.frames import ByeFrame, Frame, HeadFrame, told
from gateway.live.outbox import Outbox, OutboxFull
from gateway.live.sockets import Sockets
from services.core.ids import MatchId

RETRY_MS = 1_000


class Listening:
    """A stream of events; the id of an event is the version that it brings the client to."""

    def __init__(self, sight: Sight, match: MatchId, reader: Reader) -> None:
        self._sight = sight
        self._reader = reader
        self._outbox = Outbox()
        self._following = Following(sight, match, reader, self._deliver)

    async def events(self, sockets: Sockets, after: int | None) -> AsyncIterator[bytes]:
        """Text of events, the first one once there is something to tell. Raises what a follow raises."""
        with ExitStack() as held:
            held.enter_context(sockets.one(self, self._reader.address))
            if self._reader.player is not None:
                held.enter_context(sockets.of_player(self._reader.player))
            if self._reader.until is not None:
                left_s = self._reader.until - time.time()
                expiring = asyncio.get_running_loop().call_later(
                    left_s, self.say_bye, "the token has expired"
                )
                held.callback(expiring.cancel)
            self._sight.hub.listen(self._tell_heads)
            try:
                await self._following.begin(after)
                yield b"retry: %d\n\n" % RETRY_MS
                while frames := await self._outbox.take():
                    yield b"".join(map(_written, frames))
            finally:
                self._sight.hub.unlisten(self._tell_heads)
                self._following.end()

    def say_bye(self, reason: str) -> None:
        resume = {self._following.match: self._following.version}
        self._deliver(told(ByeFrame(reason=reason, resume=resume)))
        self._outbox.close()

    def _tell_heads(self) -> None:
        self._deliver(told(HeadFrame(heads={self._following.match: self._following.head})))

    def _deliver(self, frame: Frame) -> None:
        try:
            self._outbox.put(frame)
        except OutboxFull:
            # The client comes back by itself, and says from where.
            self._outbox.abandon()


def _written(frame: Frame) -> bytes:
    id_ = b"id: %d\n" % frame.version if frame.version else b""
    return b"%sevent: %s\ndata: %s\n\n" % (id_, frame.kind.encode(), frame.body)
