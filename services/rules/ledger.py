"""Where decisions are written down: the one place of a worker that appends to streams."""

from collections.abc import Callable

import structlog

from services.core.clock import GRACE_MS
from services.core.decide import Decision
from services.core.errors import StoreUnavailable
from services.core.ids import match_stream
from services.core.match import Match
from services.kit.moment import now_ms
from services.kit.store import CLEAR, Append, EventStore
from services.rules.news import News
from services.rules.shelf import Shelf

log = structlog.get_logger()


class Ledger:
    """Appends for one title. `publish` is told what was stored, and must not wait for anything."""

    def __init__(self, title: str, store: EventStore, shelf: Shelf, publish: Callable[[News], None]) -> None:
        self._title = title
        self._store = store
        self._shelf = shelf
        self._publish = publish
        self._log = log.bind()  # looked up here, once, rather than for every event

    async def append(self, decision: Decision, previous: bytes) -> News:
        """Stores the decision behind the entry with hash `previous`. Raises as EventStore.append does."""
        match, entry = decision.match, decision.entry
        try:
            await self._store.append(
                Append(
                    stream=match_stream(match.id),
                    entry=entry,
                    expected_version=entry.version - 1,
                    expected_hash=previous,
                    owner=self._title,
                    at=now_ms(),
                    deadline=deadline_of(match),
                )
            )
        except StoreUnavailable:
            self._shelf.drop(match.id)  # it may have been stored or not: the stream knows
            raise
        self._shelf.keep(match)
        news = News(match, decision.event, entry, previous)
        self._publish(news)
        self._tell(news)
        return news

    def _tell(self, news: News) -> None:
        """The canonical line of what was stored: of beginnings and ends always, of moves when debugging."""
        event, match = news.event, news.match
        tell = self._log.info if event.version == 1 or match.outcome else self._log.debug
        tell(
            event.type,
            title=match.started.title,
            match=match.id,
            version=event.version,
            seat=event.by,
            request_id=event.request_id,
            traceparent=event.traceparent,
            outcome=match.outcome.reason if match.outcome else "",
        )


def deadline_of(match: Match) -> int | None:
    """UTC ms of the next flag; CLEAR when none can fall any more, None for a match without a clock."""
    if match.started.clock is None:
        return None
    # One ms past the grace: a flag falls strictly after it.
    return match.flag[1] + GRACE_MS + 1 if match.flag else CLEAR
