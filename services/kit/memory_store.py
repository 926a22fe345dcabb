"""The event store in a dict: for tests that need the laws of a store and not its durability."""

from collections.abc import AsyncIterator, Sequence

from services.core.errors import HistoryForked, VersionConflict
from services.core.events import Entry
from services.core.ids import MatchId, StreamName, stream_match
from services.kit.store import CLEAR, PAGE, After, Append, Owner, Published


class MemoryStore:
    """An EventStore that lives and dies with its process."""

    def __init__(self) -> None:
        self._streams: dict[StreamName, list[Entry]] = {}
        self._seeds: dict[MatchId, bytes] = {}
        self._outbox: dict[tuple[Owner, Published], int] = {}
        self._deadlines: dict[tuple[Owner, MatchId], int] = {}

    async def append(self, append: Append) -> None:
        entries = self._streams.get(append.stream, [])
        _refuse_other_head(append, entries)
        self._streams[append.stream] = [*entries, append.entry]
        self._outbox[append.owner, Published(append.stream, append.entry.version)] = append.at
        match = stream_match(append.stream)
        if append.deadline == CLEAR:
            await self.clear_deadline(append.owner, match)
        elif append.deadline is not None:
            await self.set_deadline(append.owner, match, append.deadline)
        if not entries and append.seed is not None:
            self._seeds[match] = append.seed

    async def read(
        self, stream: StreamName, after: int = 0, until: int | None = None, limit: int | None = None
    ) -> list[Entry]:
        return self._streams.get(stream, [])[after:until][:limit]

    async def read_many(self, tails: Sequence[After], limit: int = PAGE) -> list[list[Entry]]:
        return [await self.read(tail.stream, tail.version, limit=limit) for tail in tails]

    async def heads(self, streams: Sequence[StreamName]) -> list[int]:
        return [len(self._streams.get(stream, [])) for stream in streams]

    async def seed(self, match: MatchId) -> bytes | None:
        return self._seeds.get(match)

    async def outbox_due(self, owner: Owner, before_ms: int, limit: int) -> list[Published]:
        due = [entry for (whose, entry), at in self._outbox.items() if whose == owner and at < before_ms]
        return due[:limit]

    async def outbox_done(self, owner: Owner, entries: Sequence[Published]) -> None:
        for entry in entries:
            self._outbox.pop((owner, entry), None)

    async def deadlines_due(self, owner: Owner, now_ms: int, limit: int) -> list[MatchId]:
        due = [match for (whose, match), at in self._deadlines.items() if whose == owner and at <= now_ms]
        return due[:limit]

    async def set_deadline(self, owner: Owner, match: MatchId, deadline_ms: int) -> None:
        self._deadlines[owner, match] = deadline_ms

    async def clear_deadline(self, owner: Owner, match: MatchId) -> None:
        self._deadlines.pop((owner, match), None)

    async def streams(self) -> AsyncIterator[StreamName]:
        for stream in list(self._streams):
            yield stream


def _refuse_other_head(append: Append, entries: Sequence[Entry]) -> None:
    found, expected = len(entries), append.expected_version
    if found > expected:
        raise VersionConflict(expected, found)
    if found < expected or (entries and entries[-1].hash != append.expected_hash):
        raise HistoryForked(append.stream, expected, found)
