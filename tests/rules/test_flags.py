import asyncio
import random

import pytest
from structlog.testing import capture_logs

from services.core.clock import GRACE_MS, Fischer, PerTurn
from services.core.commands import Resign, SubmitMove
from services.core.errors import ClockExpired
from services.kit.moment import now_ms
from services.kit.redis_keys import seed_key
from services.rules import flags
from services.rules.archive import Archive
from services.rules.library import Library
from tests.rules.hosting import ANN, BOB, Host, any_move, entries_of, events_in, folded, started
from tests.toy.titles.high_card import VERSIONS as TOY

pytestmark = pytest.mark.anyio

SECOND = Fischer(initial_ms=1_000)
LONG_AGO_MS = 1_000 + GRACE_MS + 500


@pytest.fixture
def clocked(store, new_owner) -> Host:
    """A worker whose deadlines no other test sees."""
    return Host(_library(new_owner()), store)


def _library(slug: str) -> Library:
    toy = TOY[1].__class__()
    toy.slug = slug
    return Library({1: toy}, "")


async def due(host: Host, in_ms: int = 0) -> list[str]:
    return await host.store.deadlines_due(host.library.slug, now_ms() + in_ms, 10)


async def test_a_flag_falls_by_itself_after_the_deadline_and_its_grace(clocked, new_match):
    match = await started(clocked, new_match(), clock=SECOND, at=now_ms() - LONG_AGO_MS)
    await clocked.flags.sweep()
    last = events_in(await entries_of(clocked.store, match))[-1]
    assert (last.type, last.by) == ("clock_flagged", "system")
    assert (await folded(clocked, match)).outcome.winners == (1,)
    assert await due(clocked, in_ms=10**9) == []


async def test_no_flag_falls_within_the_grace(clocked, new_match):
    match = await started(clocked, new_match(), clock=SECOND, at=now_ms() - GRACE_MS)
    await clocked.flags.sweep()
    assert len(await entries_of(clocked.store, match)) == 1
    assert await due(clocked) == []
    assert await due(clocked, in_ms=2_000) == [match]


async def test_a_move_moves_the_deadline_and_the_end_clears_it(clocked, new_match):
    match = await started(clocked, new_match(), clock=PerTurn(turn_ms=60_000))
    await clocked.plays(match, random.Random(1), moves=1)
    assert await due(clocked, in_ms=60_000) == []
    assert await due(clocked, in_ms=60_000 + GRACE_MS + 1) == [match]
    await clocked.does(match, BOB, Resign())
    assert await due(clocked, in_ms=10**9) == []


async def test_a_move_after_the_flag_is_refused(clocked, new_match):
    match = await started(clocked, new_match(), clock=SECOND, at=now_ms() - 2_000)
    move = any_move(await clocked.now(match), 0, random.Random(1))
    with pytest.raises(ClockExpired):
        await clocked.does(match, ANN, SubmitMove(move=move))
    assert len(await entries_of(clocked.store, match)) == 1


async def test_a_match_without_a_clock_has_no_deadline(clocked, new_match):
    await started(clocked, new_match())
    assert await due(clocked, in_ms=10**12) == []


async def test_workers_that_sweep_at_once_flag_a_match_once(clocked, rival_store, new_match):
    rival = Host(clocked.library, rival_store)
    matches = [
        await started(clocked, new_match(), clock=SECOND, at=now_ms() - LONG_AGO_MS) for _ in range(20)
    ]
    await asyncio.gather(clocked.flags.sweep(), rival.flags.sweep())
    for match in matches:
        assert len(await entries_of(clocked.store, match)) == 2
    assert await due(clocked, in_ms=10**9) == []


async def test_a_deadline_that_is_not_that_of_the_match_is_corrected(clocked, new_match):
    slug = clocked.library.slug
    clockless = await started(clocked, new_match())
    unhurried = await started(clocked, new_match(), clock=PerTurn(turn_ms=60_000))
    for match in (clockless, unhurried, new_match()):
        await clocked.store.set_deadline(slug, match, 1)
    await clocked.flags.sweep()
    assert await due(clocked) == []
    assert await due(clocked, in_ms=10**6) == [unhurried]
    assert len(await entries_of(clocked.store, unhurried)) == 1


async def test_a_damaged_match_does_not_keep_others_from_their_flags(clocked, new_match):
    damaged = await started(clocked, new_match(), clock=SECOND, at=now_ms() - LONG_AGO_MS)
    clocked.shelf.drop(damaged)
    await clocked.store.link.call("DEL", seed_key(damaged))
    match = await started(clocked, new_match(), clock=SECOND, at=now_ms() - LONG_AGO_MS)
    await clocked.flags.sweep()
    assert (await folded(clocked, match)).outcome is not None
    assert await due(clocked) == []
    assert await due(clocked, in_ms=10**9) == [damaged]


async def test_a_fault_of_ours_at_one_match_does_not_keep_others_from_their_flags(
    clocked, new_match, monkeypatch
):
    monkeypatch.setattr(flags, "AT_ONCE", 1)
    bad = await started(clocked, new_match(), clock=SECOND, at=now_ms() - LONG_AGO_MS)
    good = await started(clocked, new_match(), clock=SECOND, at=now_ms() - LONG_AGO_MS)
    for match, deadline in ((bad, 1), (good, 2)):
        await clocked.store.set_deadline(clocked.library.slug, match, deadline)
    find = Archive.find

    async def find_or_fail(self, id):
        if id == bad:
            raise ZeroDivisionError
        return await find(self, id)

    with monkeypatch.context() as patch, capture_logs() as logged:
        patch.setattr(Archive, "find", find_or_fail)
        await clocked.flags.sweep()
    failed = [line for line in logged if line["event"] == "flag_failed"]
    assert [line["match"] for line in failed] == [bad]
    assert (await folded(clocked, good)).outcome is not None
    assert await due(clocked) == []
    assert await due(clocked, in_ms=10**9) == [bad]


@pytest.mark.parametrize("ends", [False, True])
async def test_a_correction_does_not_undo_the_deadline_of_what_happens_meanwhile(
    clocked, rival_store, new_match, monkeypatch, ends
):
    rival = Host(clocked.library, rival_store)
    match = await started(clocked, new_match(), clock=PerTurn(turn_ms=60_000), at=now_ms() - 30_000)
    await clocked.store.set_deadline(clocked.library.slug, match, 1)
    set_deadline = clocked.store.set_deadline

    async def set_late(*given):
        if len(await entries_of(rival_store, match)) == 1:
            await (
                rival.does(match, BOB, Resign()) if ends else rival.plays(match, random.Random(1), moves=1)
            )
        await set_deadline(*given)

    monkeypatch.setattr(clocked.store, "set_deadline", set_late)
    await clocked.flags.sweep()
    assert len(await entries_of(rival_store, match)) == 2
    assert await due(clocked, in_ms=40_000 + GRACE_MS) == []
    assert await due(clocked, in_ms=10**9) == ([] if ends else [match])
