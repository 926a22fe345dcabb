"""What was stored goes out to the world from here, behind the back of a command that has been answered."""

import asyncio
import contextlib
from collections import deque

import structlog

from services.core.ids import match_stream
from services.kit.relay import Relay
from services.kit.tasks import ended
from services.rules.live import Live
from services.rules.news import News
from services.rules.published import published

WAITING_MAX = 2_000
TOGETHER_MAX = 32
PACE_S = 0.004  # after several in one write to NATS: under load news wait for each other
STOP_S_MAX = 1.0

log = structlog.get_logger()


class Press:
    """News in the order in which they were stored: to whoever watches, and to the read models."""

    def __init__(self, live: Live, relay: Relay) -> None:
        self._live = live
        self._relay = relay
        self._waiting: deque[News] = deque()
        self._is_any_waiting = asyncio.Event()
        self._publishing: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._publishing = asyncio.create_task(self._keep_publishing())

    async def stop(self) -> None:
        """Publishes what waits, if that is soon done."""
        await ended(self._publishing)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S_MAX):
                while self._waiting:
                    await self._publish(self._waiting.popleft())

    def tell(self, news: News) -> None:
        """Never waits. What does not fit is left to the outbox's sweeper and to readers that see a gap."""
        if len(self._waiting) >= WAITING_MAX:
            log.debug("news_dropped", match=news.match.id, version=news.match.version)
            return
        self._waiting.append(news)
        self._is_any_waiting.set()

    async def _keep_publishing(self) -> None:
        while True:
            await self._is_any_waiting.wait()
            self._is_any_waiting.clear()
            while self._waiting:
                # Many at a time: they share a write to NATS, and news keep up with answers under load.
                together = min(len(self._waiting), TOGETHER_MAX)
                for _ in range(together):
                    await self._publish(self._waiting.popleft())
                await asyncio.sleep(PACE_S if together > 1 else 0)

    async def _publish(self, news: News) -> None:
        try:
            await self._live.push(news)
            self._relay.publish(match_stream(news.match.id), news.entry, published(news).SerializeToString())
        except Exception:
            log.exception("news_failed", match=news.match.id, version=news.match.version)
