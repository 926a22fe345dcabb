"""Rebuilding the read models: all streams into a new generation, then a swap.

The follower writes to both generations meanwhile, and each fold catches up with its stream, so
whatever happens during a rebuild is in the new generation as well.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, TypeVar

import structlog
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import HistoryCorrupt, NoSuchMatch
from services.core.ids import MatchId, StreamName, match_stream, stream_match, table_stream
from services.kit.store import EventStore
from services.kit.tasks import answers, ended
from services.projection.follow import Follower
from services.projection.generations import Claim
from services.projection.models import ReadModels
from services.projection.sources import Sources
from services.projection.waits import Waits

log = structlog.get_logger()

T = TypeVar("T")

TABLES_AT_ONCE = 32  # asked for and folded together; as many of their matches are read a page each
GROUPS_AT_ONCE = 3  # so that lobby, workers and projection need not wait for each other
DAMAGES_MAX = 100  # that are kept and told; the log names all
PAGES_AT_ONCE = 32  # that workers are asked for: each has a deadline, which long histories in a queue miss


class Rebuilt(NamedTuple):
    """How much was folded, and how many streams could not be read to their ends. `damages`: of the first."""

    streams: int
    events: int
    damaged: int = 0
    damages: tuple[HistoryCorrupt, ...] = ()


class _Unread(NamedTuple):
    """The events of a match from `after` to `head`."""

    match: MatchId
    after: int
    head: int


async def rebuild(
    store: EventStore, models: ReadModels, sources: Sources, follower: Follower, waits: Waits
) -> Rebuilt:
    """Folds every stream and swaps.

    A match of which a stream is damaged will be in no list, or be there as far as it could be read: one bad
    stream must not keep all others from being found. Takes as long as there are matches; cut short, it leaves
    the present read models as they are.
    An owner of streams that is away is waited for. Raises ServiceDown if it does not come back, or if this
    rebuild stood still for so long that its claim has lapsed, and RebuildUnderWay while another is.
    """
    streams = events = damaged = 0
    damages: list[HistoryCorrupt] = []
    async with models.next_generation() as claim:
        folding = _Folding(store, sources, follower, claim, waits)
        works = (folding.fold(tables) async for tables in _in_groups(store))
        async with aclosing(answers(works, GROUPS_AT_ONCE)) as folded:
            async for done in folded:
                streams += done.streams
                events += done.events
                damaged += done.damaged
                damages += done.damages[: DAMAGES_MAX - len(damages)]
    return Rebuilt(streams, events, damaged, tuple(damages))


async def _in_groups(store: EventStore) -> AsyncIterator[list[MatchId]]:
    """All tables, some at a time."""
    group: list[MatchId] = []
    async for stream in store.streams():
        if stream.startswith("table/"):
            group.append(stream_match(stream))
        if len(group) == TABLES_AT_ONCE:
            yield group
            group = []
    if group:
        yield group


class _Folding:
    """Folds tables and their matches into the generation of a claim, which every page renews."""

    def __init__(
        self, store: EventStore, sources: Sources, follower: Follower, claim: Claim, waits: Waits
    ) -> None:
        self._store = store
        self._sources = sources
        self._follower = follower
        self._claim = claim
        self._waits = waits
        self._asking = asyncio.Semaphore(PAGES_AT_ONCE)

    async def fold(self, tables: Sequence[MatchId]) -> Rebuilt:
        """Of each match a page at a time is in memory. What a match's title is, its table tells."""
        damages: list[HistoryCorrupt] = []
        page = await self._tables(tables, damages)
        titles = {stream_match(StreamName(event.stream)): event.title for event in page}
        heads = await self._store.heads([match_stream(match) for match in titles])
        unread = [_Unread(match, 0, head) for match, head in zip(titles, heads, strict=True) if head]
        streams: set[str] = set()
        events = 0
        while page or unread:
            read = await _all(self._page(titles[rest.match], rest, damages) for rest in unread)
            page = _without(page, damages)  # a table alone would make the match one that can be joined
            page += [event for each in read for event in each]  # with a table's own: one write for both
            await self._fold(page)
            await self._claim.renew()
            streams |= {event.stream for event in page}
            events += len(page)
            page, unread = [], list(_still(unread, read))
        return Rebuilt(len(streams), events, len(damages), tuple(damages))

    async def _tables(self, tables: Sequence[MatchId], damages: list[HistoryCorrupt]) -> list[PublishedEvent]:
        """The events of the tables that are sound; adds to `damages` what is wrong with the others."""
        try:
            return list(await self._asked("the lobby", lambda: self._sources.tables(tables)))
        except (HistoryCorrupt, NoSuchMatch) as error:
            if len(tables) == 1:
                damages.append(_left_out(_damage(tables[0], error)))
                return []
        # The answer for all of them is about one; each for itself tells which are sound.
        return [event for table in tables for event in await self._tables([table], damages)]

    async def _page(
        self, title: str, rest: _Unread, damages: list[HistoryCorrupt]
    ) -> Sequence[PublishedEvent]:
        """The next events; none, and one more of `damages`, if the stream does not hold."""
        async with self._asking:
            try:
                return await self._asked(
                    f"a worker of {title}", lambda: self._sources.match_page(title, rest.match, rest.after)
                )
            except HistoryCorrupt as error:
                damages.append(_left_out(error))
                return []

    async def _fold(self, page: Sequence[PublishedEvent]) -> None:
        # Where events that come meanwhile were folded first, the follower asks for what it lacks.
        await self._asked("an owner of streams", lambda: self._follower.fold(self._claim.number, page))

    async def _asked(self, owner: str, ask: Callable[[], Awaitable[T]]) -> T:
        """While the owner is away the claim is kept."""
        return await self._waits.answered(owner, ask, self._claim.renew)


async def _all(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each returns, in order. One that raises ends the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await ended(*tasks)


def _damage(table: MatchId, error: HistoryCorrupt | NoSuchMatch) -> HistoryCorrupt:
    """What is wrong with a table that is listed: there may be nothing under its name any more."""
    if isinstance(error, HistoryCorrupt):
        return error
    return HistoryCorrupt(table_stream(table), 1, "the stream is empty")


def _left_out(damage: HistoryCorrupt) -> HistoryCorrupt:
    log.error("damaged_stream_left_out", stream=damage.stream, version=damage.version, detail=damage.detail)
    return damage


def _without(page: Sequence[PublishedEvent], damages: Sequence[HistoryCorrupt]) -> list[PublishedEvent]:
    """The events of matches that are not damaged."""
    damaged = {stream_match(StreamName(damage.stream)) for damage in damages}
    return [event for event in page if stream_match(StreamName(event.stream)) not in damaged]


def _still(unread: Sequence[_Unread], pages: Sequence[Sequence[PublishedEvent]]) -> Iterator[_Unread]:
    """What is left of the matches, each of which has been read a page further."""
    for rest, page in zip(unread, pages, strict=True):
        if page and page[-1].version < rest.head:
            yield rest._replace(after=page[-1].version)
