"""Work that goes through tasks which are kept."""

import asyncio
import gc
import inspect

import pytest

from services.kit.crew import Crew

pytestmark = pytest.mark.anyio


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_work_runs_side_by_side_and_none_of_it_before_begin_returns() -> None:
    crew, gate, done = Crew(), asyncio.Event(), []

    async def work(number: int) -> None:
        await gate.wait()
        done.append(number)

    for number in range(5):
        crew.begin(work(number))
    assert not done
    await settle()
    gate.set()
    await settle()
    assert sorted(done) == list(range(5))
    crew.dismiss()


async def test_a_task_that_is_done_takes_the_next_work() -> None:
    crew, tasks = Crew(), []

    async def work() -> None:
        tasks.append(asyncio.current_task())

    for _ in range(20):
        crew.begin(work())
        await settle()
    assert (len(tasks), len(set(tasks)), len(crew)) == (20, 1, 1)
    crew.dismiss()
    await settle()
    assert len(crew) == 0


async def test_no_more_tasks_are_kept_than_the_bound() -> None:
    crew, gate = Crew(idle_max=3), asyncio.Event()
    for _ in range(10):
        crew.begin(wait_for(gate))
    assert len(crew) == 10
    gate.set()
    await settle()
    assert len(crew) == 3
    crew.dismiss()


async def test_a_crew_that_is_dismissed_finishes_its_work_and_is_gone() -> None:
    crew, gate, done = Crew(), asyncio.Event(), []

    async def work() -> None:
        await gate.wait()
        done.append(True)

    crew.begin(work())
    await settle()
    crew.dismiss()
    gate.set()
    await settle()
    assert done == [True]
    assert len(crew) == 0


async def test_a_crew_that_is_stopped_cancels_its_work_and_keeps_no_task() -> None:
    crew, ended = Crew(), []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    crew.begin(asyncio.sleep(0))
    crew.begin(work())
    await settle()
    await crew.stop()
    assert (ended, len(crew)) == ([True], 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("has_idle", [False, True], ids=["to a new task", "to an idle one"])
async def test_work_that_a_stop_finds_handed_over_and_not_begun_is_closed(has_idle: bool) -> None:
    crew, begun = Crew(), []
    if has_idle:
        crew.begin(asyncio.sleep(0))
        await settle()

    async def work() -> None:
        begun.append(True)

    handed = work()
    crew.begin(handed)
    await crew.stop()
    assert (begun, len(crew), inspect.getcoroutinestate(handed)) == ([], 0, inspect.CORO_CLOSED)
    del handed  # a coroutine that was never awaited warns once nobody holds it
    gc.collect()


async def wait_for(gate: asyncio.Event) -> None:
    await gate.wait()
