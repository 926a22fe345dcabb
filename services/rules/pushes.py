"""What waits to be pushed on one stream: bounded, so that a gateway that reads slowly costs no memory.

A push is kept as a message with nothing else in it, written, as answers are (`services.rules.calls`).
"""

import asyncio
from collections import deque

from prometheus_client import Counter

WAITING_MAX = 4_096
WAITING_BYTES_MAX = 8 * 1024 * 1024
MESSAGE_BYTES_MAX = 512 * 1024  # a message holds 4 MiB, and one answer may take 3

DROPPED = Counter("live_dropped_pushes", "Pushes that a gateway read too slowly for, or too large for one")


class Pushes:
    """First in, first out. `ready` is set while there is something to send; it is shared with the answers."""

    def __init__(self, ready: asyncio.Event) -> None:
        self._ready = ready
        self._waiting: deque[bytes] = deque()
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, push: bytes) -> None:
        """What does not fit is dropped: its readers see a gap, and ask for the view."""
        size = len(push)
        is_full = len(self._waiting) >= WAITING_MAX or self._bytes + size > WAITING_BYTES_MAX
        if is_full or size > MESSAGE_BYTES_MAX:
            DROPPED.inc()
            return
        self._waiting.append(push)
        self._bytes += size
        self._ready.set()

    def collect(self) -> list[bytes]:
        """Pushes for one message, oldest first; `ready` is set again if there are more."""
        batch: list[bytes] = []
        room = MESSAGE_BYTES_MAX
        while self._waiting and len(self._waiting[0]) <= room:
            batch.append(self._waiting.popleft())
            self._bytes -= len(batch[-1])
            room -= len(batch[-1])
        if self._waiting:
            self._ready.set()
        return batch
