"""A table's events on their way to read models: what any spectator may know, as `PublishedEvent` messages."""

from collections.abc import Sequence
from typing import Any

import msgspec
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import BadRequest, NoSuchMatch, NoSuchVersion
from services.core.events import Entry, Event, genesis, unseal
from services.core.ids import MatchId, StreamName, stream_match, table_stream
from services.kit.store import PAGE, After, EventStore
from services.lobby.desk import Stored, folded

# Of one answer. With full options and all comings and goings these take a third of what a message may.
TABLES_MAX, EVENTS_MAX = 64, 2_000

# An allow-list: what is not named here stays inside, nonces and the hash of the invite code above all.
_SHOWN = {
    "table_created": (
        "title", "options", "seats", "seats_min", "private", "clock", "automatic", "quick", "commitment",
    ),
    "seat_taken": ("seat",),
    "seat_left": ("seat",),
    "table_sealed": ("seats",),
    "table_closed": ("note",),
}  # fmt: skip


class Published:
    """Events of any table, told again as they were told when they happened."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    async def after(self, match: MatchId, version: int) -> list[PublishedEvent]:
        """The events after `version`, in order; a table has few. Raises NoSuchMatch, HistoryCorrupt."""
        if version < 0:
            raise BadRequest("after", "is below 0")
        return (await self._all(match))[version:]

    async def batch(self, matches: Sequence[MatchId]) -> list[list[PublishedEvent]]:
        """All events of each table, for as many tables as an answer holds; at least one of those asked for.

        Raises NoSuchMatch, HistoryCorrupt, BadRequest.
        """
        if not 1 <= len(matches) <= TABLES_MAX:
            raise BadRequest("matches", f"are not 1 to {TABLES_MAX}")
        streams = await self._store.read_many([After(table_stream(match)) for match in matches])
        told: list[list[PublishedEvent]] = []
        events = 0
        for match, entries in zip(matches, streams, strict=True):
            events += len(entries)
            if told and events > EVENTS_MAX:
                break
            told.append(_retold(match, entries) if len(entries) < PAGE else await self._all(match))
        return told

    async def payload(self, stream: StreamName, version: int) -> bytes:
        """The message for an event whose lobby did not live to publish it. Raises NoSuchVersion."""
        every = await self._all(stream_match(stream))
        if not 1 <= version <= len(every):
            raise NoSuchVersion(version, len(every))
        return every[version - 1].SerializeToString()

    async def _all(self, match: MatchId) -> list[PublishedEvent]:
        return _retold(match, await self._store.read(table_stream(match)))


def published(stored: Stored) -> PublishedEvent:
    """What the relay sends of an event just stored."""
    table = stored.table
    return _message(table_stream(table.id), table.created.title, stored.event, stored.entry, stored.previous)


def _retold(match: MatchId, entries: Sequence[Entry]) -> list[PublishedEvent]:
    """The events of the whole stream of a table. Raises NoSuchMatch for an empty one, HistoryCorrupt."""
    stream = table_stream(match)
    table = folded(match, entries)
    if table is None:
        raise NoSuchMatch(match)
    previous, told = genesis(stream), []
    for entry in entries:
        event = unseal(stream, entry, previous, entry.version)
        told.append(_message(stream, table.created.title, event, entry, previous))
        previous = entry.hash
    return told


def _message(stream: StreamName, title: str, event: Event, entry: Entry, previous: bytes) -> PublishedEvent:
    return PublishedEvent(
        stream=stream,
        version=event.version,
        title=title,
        hash=entry.hash,
        previous_hash=previous,
        event=msgspec.json.encode(_shown(event)),
        traceparent=event.traceparent,
    )


def _shown(event: Event) -> dict[str, Any]:
    data = msgspec.json.decode(event.data)
    shown = {name: data[name] for name in _SHOWN.get(event.type, ()) if name in data}
    if event.type == "table_sealed":
        shown["seats"] = [{"player": sitting["player"]} for sitting in data["seats"]]
    return {
        "type": event.type,
        "version": event.version,
        "at": event.at,
        "by": event.by,
        "data": shown,
    }
