import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing

import pytest

from services.kit.tasks import answers, ended

pytestmark = pytest.mark.anyio


async def test_a_task_that_swallows_cancellations_is_ended_all_the_same() -> None:
    swallowed = 0

    async def stubborn() -> None:
        nonlocal swallowed
        while swallowed < 2:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                swallowed += 1
        await asyncio.Event().wait()

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await asyncio.wait_for(ended(task), 5)
    assert task.cancelled()
    assert swallowed == 2


async def test_a_task_that_failed_or_never_was_needs_no_ending() -> None:
    async def fails() -> None:
        raise RuntimeError

    task = asyncio.create_task(fails())
    await asyncio.wait([task])
    await asyncio.wait_for(ended(task, None), 5)
    assert isinstance(task.exception(), RuntimeError)


class Works:
    """Works that answer their number. `begun`, `ended`: theirs, in order; `failing` raises."""

    def __init__(self, failing: int = -1) -> None:
        self.failing = failing
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.at_once = 0

    async def all(self, count: int) -> AsyncIterator[Coroutine[None, None, int]]:
        for number in range(count):
            yield self._work(number)

    async def _work(self, number: int) -> int:
        self.begun.append(number)
        try:
            self.at_once = max(self.at_once, len(self.begun) - len(self.ended))
            for _ in range(10 - number):  # so that later ones would be done first
                await asyncio.sleep(0)
            if number == self.failing:
                raise LookupError(number)
            return number
        finally:
            self.ended.append(number)


async def test_answers_come_in_order_and_so_many_works_at_most_are_under_way() -> None:
    works = Works()
    async with aclosing(answers(works.all(8), 3)) as found:
        assert [number async for number in found] == list(range(8))
    assert works.at_once == 3


async def test_fewer_works_than_may_be_under_way_are_all_answered() -> None:
    async with aclosing(answers(Works().all(2), 3)) as found:
        assert [number async for number in found] == [0, 1]


async def test_a_work_that_raises_ends_the_others_and_begins_no_more() -> None:
    works = Works(failing=1)
    with pytest.raises(LookupError):
        async with aclosing(answers(works.all(8), 3)) as found:
            _ = [number async for number in found]
    assert sorted(works.ended) == sorted(works.begun)
    assert len(works.begun) < 8


async def test_who_stops_listening_ends_what_is_under_way() -> None:
    works = Works()
    async with aclosing(answers(works.all(8), 3)) as found:
        assert await anext(found) == 0
    assert sorted(works.ended) == sorted(works.begun)
