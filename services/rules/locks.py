"""One command at a time for each match; other matches do not wait."""

import asyncio
from collections import deque

from services.core.ids import MatchId

_Turn = asyncio.Future[None]


class MatchLocks:
    """A lock per match, kept only while somebody holds it or waits for it; its holders come in turn."""

    def __init__(self) -> None:
        self._waiting: dict[MatchId, deque[_Turn]] = {}  # by match that is held

    def __len__(self) -> int:
        return len(self._waiting)

    def hold(self, match: MatchId) -> "Hold":
        """For one `async with`."""
        return Hold(self._waiting, match)


class Hold:
    """`async with` waits for those who came before. A lock of asyncio's for each command costs more."""

    __slots__ = ("_match", "_waiting")

    def __init__(self, waiting: dict[MatchId, deque[_Turn]], match: MatchId) -> None:
        self._waiting = waiting
        self._match = match

    async def __aenter__(self) -> None:
        waiting = self._waiting.get(self._match)
        if waiting is None:
            self._waiting[self._match] = deque()
            return
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the lock was handed on to who no longer wants it
                self._hand_on()
            raise

    async def __aexit__(self, *raised: object) -> None:
        self._hand_on()

    def _hand_on(self) -> None:
        waiting = self._waiting[self._match]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():  # else it was cancelled while it waited
                turn.set_result(None)
                return
        del self._waiting[self._match]
