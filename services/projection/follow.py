"""Following the streams: each batch of published events is folded into the summaries it touches.

Events may come twice, late, or not at all. One that is known already is skipped; after a gap, or
where the chain does not fit, the owner of the stream is asked for what is missing. So the fold
never depends on the bus having told everything.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence

import structlog
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import Deadline, DomainError, NoSuchTitle, ServiceDown, StoreUnavailable, TitleDown
from services.core.ids import MatchId, StreamName, stream_match
from services.projection.models import Change, ReadModels
from services.projection.summary import Summary, folded, forgotten, is_newer

log = structlog.get_logger()

# (title, stream, after) -> the stream's events after that version; from its owner, over the wire.
Missing = Callable[[str, StreamName, int], Awaitable[Sequence[PublishedEvent]]]

OWNER_DOWN = (TitleDown, NoSuchTitle, ServiceDown, Deadline)

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
        """Folds `events` into one generation.

        Where the owner of missing events does not answer, the other matches are folded all the same; then
        the owner's error is raised.
        """
        todo: dict[MatchId, list[PublishedEvent]] = defaultdict(list)
        for event in sorted(events, key=lambda event: event.version):
            todo[stream_match(StreamName(event.stream))].append(event)
        silent: list[DomainError] = []
        for _ in range(_RACES_MAX):
            if not todo:
                break
            changes = await self._changes(generation, todo, silent)
            saved = await self._models.save(generation, changes)
            lost = {change.after.match for change, done in zip(changes, saved, strict=True) if not done}
            todo = {match: events for match, events in todo.items() if match in lost}
        if todo:
            raise StoreUnavailable(f"{len(todo)} summaries kept changing under us")
        if silent:
            raise silent[0]

    async def _changes(
        self, generation: int, todo: Mapping[MatchId, Sequence[PublishedEvent]], silent: list[DomainError]
    ) -> list[Change]:
        """What the events change; adds to `silent` the errors of owners that did not answer."""
        changes = []
        summaries = await self._models.load(generation, list(todo))
        for (match, events), before in zip(todo.items(), summaries, strict=True):
            try:
                after = await self._after(before, events)
            except OWNER_DOWN as error:
                log.warning("owner_silent", match=match, detail=str(error))
                silent.append(error)
                continue
            if after is not None and after != before:
                changes.append(Change(before, after))
        return changes

    async def _after(self, summary: Summary | None, events: Sequence[PublishedEvent]) -> Summary | None:
        for event in events:
            summary = await self._stepped(summary, event)
        return summary

    async def _stepped(self, summary: Summary | None, event: PublishedEvent) -> Summary | None:
        stream = StreamName(event.stream)
        cursor = summary.cursor(stream) if summary else None
        version, head = (cursor.version, cursor.hash) if cursor else (0, "")
        if event.version == version and event.hash.hex() == head:
            return summary
        if event.version < version and not (summary and is_newer(summary, event)):
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
