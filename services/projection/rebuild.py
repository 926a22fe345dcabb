"""Rebuilding the read models: all streams into a new generation, then a swap.

The follower writes to both generations meanwhile, and each fold catches up with its stream, so
whatever happens during a rebuild is in the new generation as well.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.ids import StreamName, match_stream, stream_match
from services.kit.store import EventStore
from services.projection.follow import Follower
from services.projection.models import ReadModels
from services.projection.sources import Sources

STREAMS_AT_ONCE = 32  # asked for and folded together


class Rebuilt(NamedTuple):
    """How much was folded."""

    streams: int
    events: int


async def rebuild(store: EventStore, models: ReadModels, sources: Sources, follower: Follower) -> Rebuilt:
    """Folds every stream and swaps.

    Takes as long as there are matches; cut short, it leaves the present read models as they are. Raises
    TitleDown when the matches of a title cannot be read, LimitReached while another rebuild is under way, and
    ServiceDown if this one stood still for so long that its claim has lapsed.
    """
    streams = events = 0
    async with models.next_generation() as claim:
        async for tables in _in_groups(store):
            found = await asyncio.gather(*(_events(store, sources, table) for table in tables))
            together = [event for some in found for event in some]
            await follower.fold(claim.number, together)
            await claim.renew()
            streams += len({event.stream for event in together})
            events += len(together)
    return Rebuilt(streams, events)


async def _in_groups(store: EventStore) -> AsyncIterator[list[StreamName]]:
    """The streams of all tables, some at a time."""
    group: list[StreamName] = []
    async for stream in store.streams():
        if stream.startswith("table/"):
            group.append(stream)
        if len(group) == STREAMS_AT_ONCE:
            yield group
            group = []
    if group:
        yield group


async def _events(store: EventStore, sources: Sources, table: StreamName) -> list[PublishedEvent]:
    """Of a table and of its match, which has no title of its own but by the table."""
    found = list(await sources.missing("", table, 0))
    match = match_stream(stream_match(table))
    if found and (await store.heads([match]))[0]:
        found += await sources.missing(found[0].title, match, 0)
    return found
