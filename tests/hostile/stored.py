"""What a store holds, compared before and after: hostile clients leave no trace in it."""

import asyncio
import hashlib

from redis.asyncio import Redis

from services.kit.announce import LIVE

PATIENCE_S = 60.0
STILL_S = 1.0
# Heartbeats.
_RESTLESS = (LIVE.encode(),)

Stored = dict[bytes, bytes]


async def stored(redis: Redis) -> Stored:
    """A digest of every key's value, once nothing changes by itself any more."""
    before = await _look(redis)
    async with asyncio.timeout(PATIENCE_S):
        while True:
            await asyncio.sleep(STILL_S)
            now = await _look(redis)
            if now == before:
                return now
            before = now


def changed(before: Stored, after: Stored) -> list[str]:
    """The keys that were made, changed or removed."""
    keys = before.keys() | after.keys()
    return sorted(key.decode() for key in keys if before.get(key) != after.get(key))


async def _look(redis: Redis) -> Stored:
    keys = sorted([key async for key in redis.scan_iter(count=1_000) if key not in _RESTLESS])
    trip = redis.pipeline(transaction=False)
    for key in keys:
        trip.dump(key)
    return {
        key: hashlib.sha256(value).digest()
        for key, value in zip(keys, await trip.execute(), strict=True)
        if value is not None
    }
