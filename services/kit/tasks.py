"""Ending background tasks for certain, and having some work done at once."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_AGAIN_S = 0.1


async def ended(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancels the tasks, and waits until the last one is over.

    Again and again: before Python 3.12 `asyncio.wait_for`, which clients of ours use inside, swallows a
    cancellation that arrives in the moment in which what it waits for is done.
    """
    running = {task for task in tasks if task is not None and not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_AGAIN_S)


async def answers(works: AsyncIterable[Coroutine[Any, Any, T]], at_once: int) -> AsyncGenerator[T, None]:
    """What each of the works returns, in their order; at most `at_once` of them are under way.

    A work that raises ends the others; so does `aclose`.
    """
    running: deque[asyncio.Task[T]] = deque()
    try:
        async for work in works:
            running.append(asyncio.create_task(work))
            if len(running) == at_once:
                yield await running[0]
                running.popleft()
        while running:
            yield await running[0]
            running.popleft()
    finally:
        await ended(*running)
        await asyncio.gather(*running, return_exceptions=True)  # else the loop complains of what they raised
