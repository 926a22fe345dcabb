"""Tasks that go from one piece of work to the next: to make and forget a task costs 10 us, to wake one 2."""

import asyncio
from collections.abc import Coroutine
from typing import Any

IDLE_MAX = 128  # tasks kept for later; under load more run, and end when they are done


class Crew:
    """Runs work at once, side by side. It must catch what it raises, and only `stop` may cancel its task."""

    def __init__(self, idle_max: int = IDLE_MAX) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle_max = idle_max
        self._idle: list[asyncio.Future[Coroutine[Any, Any, None]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        # The first work of tasks that are yet to begin, which is in this order. A set is four times as large.
        self._unbegun: list[Coroutine[Any, Any, None]] = []
        self._is_dismissed = False

    def __len__(self) -> int:
        """How many tasks there are, at work or not."""
        return len(self._tasks)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Returns before the work does anything."""
        if self._idle:
            self._idle.pop().set_result(work)
            return
        self._unbegun.append(work)
        task = self._loop.create_task(self._go_on_from(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def dismiss(self) -> None:
        """Ends the tasks that have nothing to do, and the others once their work is done."""
        self._is_dismissed = True
        for waiting in self._idle:
            waiting.cancel()
        self._idle.clear()

    async def stop(self) -> None:
        """Cancels all work, and returns once every task has ended; what has not begun never does."""
        self._is_dismissed = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while self._unbegun:
            self._unbegun.pop().close()

    async def _go_on_from(self, work: Coroutine[Any, Any, None]) -> None:
        self._unbegun.remove(work)
        await work
        while not self._is_dismissed and len(self._idle) < self._idle_max:
            waiting = self._loop.create_future()
            self._idle.append(waiting)
            try:
                work = await waiting
            except asyncio.CancelledError:
                if not waiting.cancelled():  # the task was, between being handed work and beginning it
                    waiting.result().close()
                raise
            await work
