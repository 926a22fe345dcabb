import asyncio

import pytest

from services.kit.tasks import ended

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
