"""One command at a time for each match; other matches do not wait."""

import asyncio

from services.core.ids import MatchId


class _MatchLock(asyncio.Lock):
    """`users`: who holds it and who waits."""

    users = 0


class Hold:
    """`async with` waits for those who came before."""

    def __init__(self, locks: dict[MatchId, _MatchLock], match: MatchId) -> None:
        self._locks = locks
        self._match = match

    async def __aenter__(self) -> None:
        lock = self._locks.get(self._match)
        if lock is None:
            lock = self._locks[self._match] = _MatchLock()
        lock.users += 1
        try:
            await lock.acquire()
        except BaseException:
            self._leave(lock)
            raise

    async def __aexit__(self, *raised: object) -> None:
        lock = self._locks[self._match]
        lock.release()
        self._leave(lock)

    def _leave(self, lock: _MatchLock) -> None:
        lock.users -= 1
        if not lock.users:
            del self._locks[self._match]


class MatchLocks:
    """A lock per match, kept only while somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: dict[MatchId, _MatchLock] = {}

    def __len__(self) -> int:
        return len(self._locks)

    def hold(self, match: MatchId) -> Hold:
        """For one `async with`."""
        return Hold(self._locks, match)
