"""What was stored goes out to the world here, behind the back of the command that has its answer already."""

import asyncio
from collections import deque

import structlog

from services.rules.live import Live
from services.rules.news import News

WAITING_MAX = 2_000

log = structlog.get_logger()


class Press:
    """News in the order in which they were stored."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._waiting: deque[News] = deque()
        self._is_waiting = asyncio.Event()

    def tell(self, news: News) -> None:
        """Never waits. What does not fit is left to the outbox's sweeper and to readers that see a gap."""
        if len(self._waiting) >= WAITING_MAX:
            log.debug("news_dropped", match=news.match.id, version=news.match.version)
            return
        self._waiting.append(news)
        self._is_waiting.set()

    async def keep_publishing(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._is_waiting.wait()
            news = self._waiting.popleft()
            if not self._waiting:
                self._is_waiting.clear()
            try:
                await self._live.push(news)
            except Exception:
                log.exception("news_failed", match=news.match.id, version=news.match.version)
            await asyncio.sleep(0)  # answers come before news
