"""What was stored goes out to the world from here: to whoever watches, and to the read models."""

import structlog

from services.core.ids import match_stream
from services.kit.relay import Relay
from services.rules.live import Live
from services.rules.news import News
from services.rules.published import published

log = structlog.get_logger()


class Press:
    """Told of every event once it is stored, in order of version for each match."""

    def __init__(self, live: Live, relay: Relay) -> None:
        self._live = live
        self._relay = relay

    def tell(self, news: News) -> None:
        """Never waits and never fails: the event is stored, whatever becomes of its news.

        What is lost is left to the outbox's sweeper, and to readers that see a gap.
        """
        try:
            self._live.push(news)
            self._relay.publish(match_stream(news.match.id), news.entry, published(news).SerializeToString())
        except Exception:  # an error in telling must not answer for the command
            log.exception("news_failed", match=news.match.id, version=news.match.version)
