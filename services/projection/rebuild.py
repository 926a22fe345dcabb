"""Rebuilding the read models: all streams into a new generation, then a swap.

The follower writes to both generations meanwhile, and each fold catches up with its stream, so
whatever happens during a rebuild is in the new generation as well.
"""

from typing import NamedTuple

from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.ids import StreamName, match_stream, stream_match
from services.kit.store import EventStore
from services.projection.follow import Follower
from services.projection.models import ReadModels
from services.projection.sources import Sources


class Rebuilt(NamedTuple):
    """How much was folded."""

    streams: int
    events: int


async def rebuild(store: EventStore, models: ReadModels, sources: Sources, follower: Follower) -> Rebuilt:
    """Folds every stream and swaps. Raises TitleDown when the matches of a title cannot be read."""
    building = await models.begin_building()
    streams = events = 0
    async for stream in store.streams():
        if not stream.startswith("table/"):
            continue
        # A match has no title of its own but by its table, so both are folded together.
        found = list(await sources.missing("", stream, 0))
        if found:
            match = match_stream(stream_match(stream))
            found += await _match_events(store, sources, found[0].title, match)
        await follower.fold(building, found)
        streams += len({event.stream for event in found})
        events += len(found)
    await models.swap(building)
    return Rebuilt(streams, events)


async def _match_events(
    store: EventStore, sources: Sources, title: str, match: StreamName
) -> list[PublishedEvent]:
    (head,) = await store.heads([match])
    return list(await sources.missing(title, match, 0)) if head else []
