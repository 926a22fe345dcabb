"""Keeps our function library in Redis, and refuses a Redis that may lose or evict events."""

import asyncio

from services.kit.redis_append import LIBRARY, SOURCE
from services.kit.redis_link import RedisLink
from services.kit.redis_resp import RedisRefused, Reply


class UnsafeRedis(Exception):
    """A Redis that may lose or evict events, as one line for the operator."""


async def refuse_unsafe(link: RedisLink) -> None:
    """Raises UnsafeRedis unless Redis keeps an append-only file and evicts nothing."""
    facts = _facts(await link.call("INFO", "persistence")) | _facts(await link.call("INFO", "memory"))
    wrong = []
    if facts.get("aof_enabled") != "1":
        wrong.append("appendonly is not yes, so acknowledged moves may be lost")
    if (policy := facts.get("maxmemory_policy")) != "noeviction":
        wrong.append(f"maxmemory-policy is {policy} instead of noeviction, so matches may vanish")
    if wrong:
        raise UnsafeRedis(f"Redis is not safe: {'; '.join(wrong)} (REDIS_UNSAFE=1 accepts it)")


def _facts(info: Reply) -> dict[str, str]:
    text = info.decode() if isinstance(info, bytes) else ""
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


class Library:
    """Loads the library when it is missing, and once however many callers miss it at the same time."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self._lock = asyncio.Lock()
        self.loads = 0

    async def ensure(self) -> None:
        """Loads the library unless exactly this text is there."""
        listed = await self._link.call("FUNCTION", "LIST", "LIBRARYNAME", LIBRARY, "WITHCODE")
        if not _holds(listed, SOURCE):
            await self.load(seen=self.loads)

    async def load(self, seen: int) -> None:
        """Loads the library unless somebody has since the caller saw `loads` at `seen`."""
        async with self._lock:
            if self.loads == seen:
                await self._link.call("FUNCTION", "LOAD", "REPLACE", SOURCE)
                self.loads += 1


def is_missing(reply: Reply) -> bool:
    """Whether a call failed for want of the library: lost, or another release's stands in its place."""
    return isinstance(reply, RedisRefused) and "function not found" in str(reply).lower()


def _holds(reply: Reply, source: bytes) -> bool:
    """Whether the nested lists of a reply hold `source` somewhere."""
    if isinstance(reply, list):
        return any(_holds(item, source) for item in reply)
    return reply == source
