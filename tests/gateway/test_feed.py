"""Reads that the followers of one audience share."""

import asyncio
import gc
from typing import Any

import pytest

from gateway.live.feed import Feed
from gateway.matches import Answered, Eyes
from services.core.errors import Deadline
from services.core.ids import MatchId

pytestmark = pytest.mark.anyio


class Hanging:
    """Answers nobody until it fails."""

    def __init__(self) -> None:
        self.asked, self.gate, self.failed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def view(self, match: MatchId, eyes: Eyes) -> Answered:
        self.asked.set()
        await self.gate.wait()
        self.failed.set()
        raise Deadline(5_000)


async def test_a_read_that_fails_once_all_who_waited_have_gone_is_told_to_nobody() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    matches = Hanging()
    feed = Feed(MatchId("m"), Eyes(), matches)  # type: ignore[arg-type]
    waiting = asyncio.create_task(feed.view())
    await matches.asked.wait()
    waiting.cancel()
    matches.gate.set()
    await matches.failed.wait()
    await asyncio.sleep(0)  # for what hears of the end of a task
    del feed, waiting
    gc.collect()
    assert told == []


async def test_a_read_that_fails_is_told_to_all_who_wait() -> None:
    matches = Hanging()
    feed = Feed(MatchId("m"), Eyes(), matches)  # type: ignore[arg-type]
    waiting = [asyncio.create_task(feed.view()) for _ in range(3)]
    await matches.asked.wait()
    matches.gate.set()
    for failed in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(failed, Deadline)
