"""One command at a time for each match; other matches do not wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.core.ids import MatchId


class MatchLocks:
    """A lock per match, kept only while somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: dict[MatchId, tuple[asyncio.Lock, int]] = {}

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def hold(self, match: MatchId) -> AsyncIterator[None]:
        """Waits for those who came before."""
        lock, users = self._locks.get(match) or (asyncio.Lock(), 0)
        self._locks[match] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            _, users = self._locks[match]
            if users == 1:
                del self._locks[match]
            else:
                self._locks[match] = lock, users - 1
