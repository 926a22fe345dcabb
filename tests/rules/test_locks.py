import asyncio

import pytest

from services.rules.locks import MatchLocks

pytestmark = pytest.mark.anyio


async def test_one_match_is_held_by_one_at_a_time_in_order_of_arrival():
    locks = MatchLocks()
    steps = []

    async def work(name):
        async with locks.hold("m"):
            steps.append(f"{name} in")
            await asyncio.sleep(0)
            steps.append(f"{name} out")

    await asyncio.gather(work("a"), work("b"), work("c"))
    assert steps == ["a in", "a out", "b in", "b out", "c in", "c out"]


async def test_other_matches_do_not_wait():
    locks = MatchLocks()
    async with locks.hold("m"), asyncio.timeout(5), locks.hold("n"):
        assert len(locks) == 2


async def test_no_lock_is_kept_once_nobody_needs_it_even_after_a_cancelled_wait():
    locks = MatchLocks()

    async def wait():
        async with locks.hold("m"):
            raise AssertionError("the lock is taken")

    async with locks.hold("m"):
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert len(locks) == 0


async def test_a_lock_handed_to_who_is_cancelled_at_that_moment_goes_to_the_next_in_line():
    locks = MatchLocks()
    steps = []

    async def work(name):
        async with locks.hold("m"):
            steps.append(name)

    async with locks.hold("m"):
        first, second = (asyncio.create_task(work(name)) for name in ("first", "second"))
        await asyncio.sleep(0)
    first.cancel()  # it has been handed the lock, and has not run since
    await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), 5)
    assert first.cancelled()
    assert steps == ["second"]
    assert len(locks) == 0


async def test_who_is_cancelled_in_the_line_is_passed_over():
    locks = MatchLocks()
    steps = []

    async def work(name):
        async with locks.hold("m"):
            steps.append(name)

    async with locks.hold("m"):
        first, second, third = (asyncio.create_task(work(name)) for name in ("first", "second", "third"))
        await asyncio.sleep(0)
        second.cancel()
    await asyncio.wait_for(asyncio.gather(first, second, third, return_exceptions=True), 5)
    assert steps == ["first", "third"]
    assert len(locks) == 0
