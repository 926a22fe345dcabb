"""Ending background tasks for certain."""

import asyncio
from typing import Any

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
