"""Following the streams: each batch of published events is folded into the summaries it touches.

Events may come twice, late, or not at all. One that is known already is skipped; after a gap, or
where the chain does not fit, the owner of the stream is asked for what is missing. So the fold
never depends on the bus having told everything.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

import structlog
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import StoreUnavailable
from services.core.ids import MatchId, StreamName, stream_match
from services.projection.models import Change, ReadModels
from services.projection.summary import Summary, folded, forgotten

log = structlog.get_logger()

# (title, stream, after) -> the stream's events after that version; from its owner, over the wire.
Missing = Callable[[str, StreamName, int], Awaitable[Sequence[PublishedEvent]]]

_RACES_MAX = 20


class Follower:
    """Folds events into the read models; safe to run in any number of processes."""

    def __init__(self, models: ReadModels, missing: Missing) -> None:
        self._models = models
        self._missing = missing

    async def follow(self, events: Sequence[PublishedEvent]) -> None:
        """Folds `events`, in any order and number of repetitions, into every generation."""
        for generation in await self._models.generations():
            await self.fold(generation, events)

    async def fold(self, generation: int, events: Sequence[PublishedEvent]) -> None:
        """Folds `events` into one generation. Raises what asking for missing events raises."""
        todo: dict[MatchId, list[PublishedEvent]] = defaultdict(list)
        for event in sorted(events, key=lambda event: event.version):
            todo[stream_match(StreamName(event.stream))].append(event)
        for _ in range(_RACES_MAX):
            matches = list(todo)
            before = await self._models.load(generation, matches)
            changes = []
            for match, summary in zip(matches, before, strict=True):
                after = await self._after(summary, todo[match])
                if after is None or after == summary:
                    del todo[match]
                else:
                    changes.append(Change(summary, after))
            saved = await self._models.save(generation, changes)
            for change, done in zip(changes, saved, strict=True):
                if done:
                    del todo[change.after.match]
            if not todo:
                return
        raise StoreUnavailable(f"{len(todo)} summaries kept changing under us")

    async def _after(self, summary: Summary | None, events: Sequence[PublishedEvent]) -> Summary | None:
        for event in events:
            summary = await self._stepped(summary, event)
        return summary

    async def _stepped(self, summary: Summary | None, event: PublishedEvent) -> Summary | None:
        stream = StreamName(event.stream)
        cursor = summary.cursor(stream) if summary else None
        version, head = (cursor.version, cursor.hash) if cursor else (0, "")
        if event.version < version or (event.version == version and event.hash.hex() == head):
            return summary
        if event.version == version + 1 and (version == 0 or event.previous_hash.hex() == head):
            return folded(summary, event)
        forked = event.version <= version + 1
        if forked and summary:
            log.warning("history_refolded", stream=stream, version=event.version)
            summary, version = forgotten(summary, stream), 0
        missing = await self._missing(event.title, stream, version)
        return self._caught_up(summary, stream, missing)

    def _caught_up(
        self, summary: Summary | None, stream: StreamName, events: Sequence[PublishedEvent]
    ) -> Summary | None:
        for event in events:
            version = summary.cursor(stream).version if summary else 0
            if event.version == version + 1:
                summary = folded(summary, event)
        return summary
