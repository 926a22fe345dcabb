"""Whole matches through real processes: what clients were told is what the streams hold."""

import asyncio
import random
import signal

import pytest

from tests.e2e.checking import check_history, check_lists, check_record, check_versions, folded
from tests.e2e.playing import History, all_of, play_http, play_sockets
from tests.e2e.site import gathered

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SEED = 20260101
MATCHES = 200


async def begun(site, number):
    """Matches of both titles in turn; Wayfare on its smallest board, and one in ten on the usual one."""
    begun = []
    for n in range(number):
        players = await site.players(2)
        if n % 2:
            match = await gathered(players, "make_way")
        else:
            match = await gathered(players, "wayfare", options={"size": 8 if n % 10 == 0 else 6})
        begun.append((match, players))
    return begun


@pytest.mark.timeout(600)
async def test_two_hundred_matches_at_once_are_told_stored_and_listed_alike(system, site, store):
    rng = random.Random(SEED)
    history = History()
    matches = await begun(site, MATCHES)
    await all_of(
        (
            play_http(players, match, history, random.Random(rng.random()))
            if n % 4 < 2
            else play_sockets(players, match, site.urls[n % 2], history, random.Random(rng.random()))
            for n, (match, players) in enumerate(matches)
        ),
        at_once=MATCHES,
    )
    ids = [match for match, _ in matches]
    moves = await check_history(store, history, ids)
    assert moves == sum([len(await folded(store, match)) - 1 for match in ids])
    await check_lists(store, site, ids)
    for match, players in rng.sample(matches, 40):
        await check_versions(store, rng.choice(players), match, rng)
        await check_record(players[0], match, len(await folded(store, match)))
    print(f"seed {SEED}: {len(ids)} matches, {moves} moves acknowledged, {site.retried} requests repeated")


async def test_a_killed_worker_loses_nothing_and_play_goes_on(system, site, store):
    rng = random.Random(SEED + 1)
    history = History()
    matches = await begun(site, 24)
    playing = asyncio.create_task(
        all_of(
            (
                play_http(players, match, history, random.Random(rng.random()))
                if n % 4 < 2
                else play_sockets(players, match, site.urls[n % 2], history, random.Random(rng.random()))
                for n, (match, players) in enumerate(matches)
            ),
            at_once=24,
        )
    )
    for title in ("wayfare", "make_way"):
        before = len(history.acknowledged)
        while len(history.acknowledged) < before + 60:
            assert not playing.done(), "the matches ended before the worker was killed"
            await asyncio.sleep(0.01)
        victim = system.services[f"rules-{title}-1"]
        victim.kill()
        assert victim.exit_code == -signal.SIGKILL
    await playing
    ids = [match for match, _ in matches]
    moves = await check_history(store, history, ids)
    print(f"seed {SEED + 1}: 2 workers killed, {moves} moves acknowledged, {site.retried} requests repeated")
    for title in ("wayfare", "make_way"):
        system.services[f"rules-{title}-1"].start()
