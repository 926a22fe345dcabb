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
