"""`waystation verify` without a file: every stream of a store proved, and held against what others know.

A stream that has lost its end is whole in itself. Only who has heard of what was lost can tell: the read
models, which keep version and hash of the last event that they were told, and the outbox.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from cli.store_url import store_url
from cli.titles import ruleset_for, shipped
from services.core.errors import DomainError, HistoryCorrupt, StoreUnavailable
from services.core.events import Entry
from services.core.ids import MatchId, StreamName, match_stream, stream_match, table_stream
from services.core.record import prove
from services.core.tables import Table, extended
from services.kit.redis_keys import streams_key
from services.kit.redis_place import redis_place
from services.kit.redis_store import RedisStore
from services.kit.store import LOBBY, partition
from services.projection.models import ReadModels
from services.projection.summary import Cursor

OUTBOX_MAX = 100_000
EVER_MS = 1 << 52


async def print_store_verdict(match: str | None, *, data: Path | None) -> int:
    """Prints a line for every stream that does not hold, with its version; 0 if there is none."""
    streams = false = 0
    with store_url(data) as url:
        try:
            async with AsyncExitStack() as closing:
                store = RedisStore.reading(url)
                closing.push_async_callback(store.close)
                witnesses = Witnesses(ReadModels(store.link), await _in_outboxes(store))
                async for stream in _streams(store, match):
                    streams += 1
                    if fault := await _fault(store, stream, witnesses):
                        false += 1
                        print(f"FALSE  {fault}")
        except DomainError as error:
            print(error)
            return 1
    if not streams:
        print(f"no match {match or ''}".rstrip() + f" in {redis_place(url).shown}")
        return 1
    if not false:
        print(f"TRUE   {streams} streams: chains, digests and luck hold, and nobody knows of more")
    return 1 if false else 0


class Witnesses:
    """What others know of streams. `outbox`: the last version of each that waits there."""

    def __init__(self, models: ReadModels, outbox: Mapping[StreamName, int]) -> None:
        self._models = models
        self._outbox = outbox

    async def of(self, stream: StreamName) -> tuple[Cursor, int]:
        """What the read models know, and the outbox's version; of nothing both are 0."""
        (generation, *_) = await self._models.generations()
        (summary,) = await self._models.load(generation, [stream_match(stream)])
        return summary.cursor(stream) if summary else Cursor(), self._outbox.get(stream, 0)


async def _in_outboxes(store: RedisStore) -> Mapping[StreamName, int]:
    last: dict[StreamName, int] = {}
    for owner in (LOBBY, *shipped()):
        for stream, version in await store.outbox_due(owner, EVER_MS, OUTBOX_MAX):
            last[stream] = max(version, last.get(stream, 0))
    return last


async def _streams(store: RedisStore, match: str | None) -> AsyncIterator[StreamName]:
    if match is None:
        async for stream in store.streams():
            yield stream
        return
    named = [table_stream(MatchId(match)), match_stream(MatchId(match))]
    for stream, head in zip(named, await store.heads(named), strict=True):
        # One that has begun and is gone is listed all the same.
        if head or await store.link.call("SISMEMBER", streams_key(partition(MatchId(match))), stream):
            yield stream


async def _fault(store: RedisStore, stream: StreamName, witnesses: Witnesses) -> DomainError | None:
    """The first thing about the stream that does not hold."""
    known, waiting = await witnesses.of(stream)  # before the stream: it may go on meanwhile
    try:
        entries = await store.read(stream)
        if not entries:
            raise HistoryCorrupt(stream, 1, "the stream is empty")
        match = stream_match(stream)
        if stream == match_stream(match):
            prove(match, await _seed(store, match), entries, ruleset_for)
        else:
            _prove_table(match, entries)
        _prove_tail(stream, entries, known, waiting)
    except StoreUnavailable:
        raise
    except DomainError as error:
        return error
    return None


async def _seed(store: RedisStore, match: MatchId) -> bytes:
    seed = await store.seed(match)
    if seed is None:
        raise HistoryCorrupt(match_stream(match), 1, "the seed is missing")
    return seed


def _prove_table(match: MatchId, entries: Sequence[Entry]) -> None:
    table: Table | None = None
    for entry in entries:
        table = extended(match, table, entry)


def _prove_tail(stream: StreamName, entries: Sequence[Entry], known: Cursor, waiting: int) -> None:
    """Nobody has heard of an event that the stream does not hold, or holds otherwise."""
    head = len(entries)
    for witness, version in (("the read models have", known.version), ("the outbox has", waiting)):
        if version > head:
            raise HistoryCorrupt(
                stream, head + 1, f"missing, with all up to {version}: {witness} heard of them"
            )
    if known.version and entries[known.version - 1].hash.hex() != known.hash:
        raise HistoryCorrupt(stream, known.version, "the read models have heard of another event")
