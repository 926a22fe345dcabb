"""What history costs: reading matches back from Redis, keeping them folded, storing them."""

import asyncio
import os
import time

import uvloop
from msgspec import Struct

from bench.measure import cost
from cli.titles import ruleset_for
from services.core.events import Entry
from services.core.ids import MatchId, StreamName, stream_match
from services.core.match import Match
from services.core.replay import fold
from services.kit.redis_keys import stream_key
from services.kit.redis_store import RedisStore

MATCHES_MAX = 100
KEPT = 2_000  # folded matches whose memory is seen


class History(Struct, frozen=True):
    """Of one title. Rates are per second of this process's CPU, reading included.

    `event_bytes`: Redis memory of a match's stream by its events. `cached_kb`: memory of one folded match.
    """

    title: str
    matches: int
    events_s: float
    matches_s: float
    event_bytes: float
    cached_kb: float


def measured(redis_url: str, titles: list[str]) -> list[History]:
    """Of those matches of `titles` that a load has left in the store, the longest first."""
    return uvloop.run(_measured(redis_url, titles))


async def _measured(redis_url: str, titles: list[str]) -> list[History]:
    store = await RedisStore.open(redis_url)
    by_title: dict[str, list[tuple[int, StreamName]]] = {title: [] for title in titles}
    streams = [stream async for stream in store.streams() if stream.startswith("match/")]
    heads = await store.heads(streams)
    for stream, head in zip(streams, heads, strict=True):
        seed, first = await _seed(store, stream), await store.read(stream, limit=1)
        title = fold(MatchId(stream_match(stream)), seed, first, ruleset_for).started.title
        by_title[title].append((head, stream))
    found = []
    for title, ranked in by_title.items():
        longest = [stream for _, stream in sorted(ranked, reverse=True)[:MATCHES_MAX]]
        if longest:
            found.append(await _history(store, title, longest))
    await store.close()
    return found


async def _history(store: RedisStore, title: str, streams: list[StreamName]) -> History:
    began, events = time.process_time(), 0
    for stream in streams:
        entries, seed = await asyncio.gather(store.read(stream), _seed(store, stream))
        fold(MatchId(stream_match(stream)), seed, entries, ruleset_for)
        events += len(entries)
    spent = time.process_time() - began
    return History(
        title=title,
        matches=len(streams),
        events_s=events / spent,
        matches_s=len(streams) / spent,
        event_bytes=await _bytes(store, streams) / events,
        cached_kb=await _cached_kb(store, streams),
    )


async def _bytes(store: RedisStore, streams: list[StreamName]) -> int:
    total = 0
    for stream in streams:
        used = await store.link.call("MEMORY", "USAGE", stream_key(stream), "SAMPLES", 0)
        assert isinstance(used, int), "the stream is there"
        total += used
    return total


async def _cached_kb(store: RedisStore, streams: list[StreamName]) -> float:
    """Memory that a folded match takes, at the middle of its life; many are kept to see it in the RSS."""
    raw: list[tuple[MatchId, bytes, list[Entry]]] = []
    for stream in streams:
        entries = await store.read(stream)
        raw.append((MatchId(stream_match(stream)), await _seed(store, stream), entries[: len(entries) // 2]))
    copies = max(1, KEPT // len(raw))
    before = cost(os.getpid()).rss_mb
    kept: list[Match] = [fold(*one, ruleset_for) for one in raw for _ in range(copies)]
    return (cost(os.getpid()).rss_mb - before) * 1000 / len(kept)


async def _seed(store: RedisStore, stream: StreamName) -> bytes:
    seed = await store.seed(MatchId(stream_match(stream)))
    assert seed is not None, f"{stream} has no seed"
    return seed
