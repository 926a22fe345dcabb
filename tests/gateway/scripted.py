"""A match that needs no worker: read at whatever version the test says."""

import asyncio

import msgspec

from gateway.matches import Answered, Eyes, Matches
from services.core.errors import Deadline
from services.core.ids import MatchId


class Scripted(Matches):
    """`head`: the version that reads show. Reads wait for `open`; the next `fails` of them are refused."""

    def __init__(self, head: int) -> None:
        self.head = head
        self.reads = 0
        self.fails = 0
        self.open = asyncio.Event()
        self.open.set()

    async def view(self, match: MatchId, eyes: Eyes, version: int | None = None) -> Answered:
        self.reads += 1
        head = self.head
        await self.open.wait()
        if self.fails:
            self.fails -= 1
            raise Deadline(1)
        return Answered(b'{"at":%d}' % head, head)

    async def events(self, match: MatchId, eyes: Eyes, first: int = 0, last: int = 0) -> bytes:
        numbers = range(first, last + 1)
        return msgspec.json.encode({"match": match, "events": [{"n": n} for n in numbers], "next": None})


def push(match: MatchId, version: int) -> tuple[int, bytes]:
    """What a worker would push: the version, and what happened."""
    return version, msgspec.json.encode({"match": match, "version": version, "event": {}, "view": {}})
