"""Published events of a toy match, made as a worker makes them: the spectator's redaction and the chain."""

import msgspec
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.events import genesis
from services.core.ids import MatchId, match_stream
from services.core.replay import replayed
from services.core.shown import show_event
from tests.core.matches import MATCH, SEED, Table, ruleset_for


def played(match: MatchId, seats: int = 2, turns: int = 10_000) -> list[PublishedEvent]:
    """A match of the toy title, published under the id `match`."""
    table = Table(seats=seats).moves(turns)
    stream, previous, published = match_stream(match), genesis(match_stream(MATCH)), []
    for entry, step in zip(table.entries, replayed(MATCH, SEED, table.entries, ruleset_for), strict=True):
        shown = show_event(step.match, step.event, None, over=step.match.outcome is not None)
        published.append(
            PublishedEvent(
                stream=stream,
                version=entry.version,
                title="high_card",
                hash=entry.hash,
                previous_hash=previous,
                event=msgspec.json.encode(shown),
            )
        )
        previous = entry.hash
    return published


def gathered(
    match: MatchId, *, private: bool = False, at: int = 1_000, sealed: bool = True
) -> list[PublishedEvent]:
    """A table of two, hosted by ann and joined by bob, published under the id `match`."""
    facts = [
        ("table_created", "ann", {"title": "high_card", "options": {}, "seats": 2, "private": private}),
        ("seat_taken", "bob", {"seat": 1}),
    ]
    if sealed:
        facts.append(("table_sealed", "system", {"seats": [{"player": "ann"}, {"player": "bob"}]}))
    published, previous = [], b""
    for version, (kind, by, data) in enumerate(facts, 1):
        event = {"type": kind, "version": version, "at": at + version - 1, "by": by, "data": data}
        head = bytes([version]) * 32
        published.append(
            PublishedEvent(
                stream=f"table/{match}",
                version=version,
                title="high_card",
                hash=head,
                previous_hash=previous,
                event=msgspec.json.encode(event),
            )
        )
        previous = head
    return published
