import asyncio
import random

import msgspec
import pytest

from services.core.clock import Fischer
from services.core.errors import NoSuchMatch, OptionInvalid, TitleDown, VersionConflict
from services.rules.library import Library
from tests.rules.hosting import TOY_LIBRARY, Host, entries_of, folded, sealed, sit_down, started
from tests.toy.titles.high_card import VERSIONS as TOY

pytestmark = pytest.mark.anyio


async def test_a_match_starts_at_version_one_and_is_published(host, new_match):
    match = new_match()
    await sit_down(host.store, match)
    assert await host.starter.start(sealed(match, seats=3)) == 1
    there = await folded(host, match)
    assert [sitting.player for sitting in there.started.seats] == ["ann", "bob", "cara"]
    assert [news.event.version for news in host.told] == [1]


async def test_starting_twice_is_harmless_even_on_another_worker_and_later(host, rival, match):
    terms = sealed(match)
    assert await rival.starter.start(terms) == 1
    await host.plays(match, random.Random(1), moves=2)
    later = msgspec.structs.replace(terms, at=terms.at + 60_000)
    assert await rival.starter.start(later) == 3
    assert len(await entries_of(host.store, match)) == 3


async def test_workers_that_start_a_match_at_once_start_it_once(host, rival, new_match):
    match = new_match()
    await sit_down(host.store, match)
    versions = await asyncio.gather(*(each.starter.start(sealed(match)) for each in (host, rival) * 4))
    assert set(versions) == {1}
    assert len(await entries_of(host.store, match)) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"seats": 3},
        {"options": b'{"rounds":2}'},
        {"private": True},
        {"clock": Fischer(initial_ms=60_000)},
    ],
)
async def test_starting_again_on_other_terms_is_refused(host, match, other):
    with pytest.raises(VersionConflict):
        await host.starter.start(sealed(match, **other))
    assert len(await entries_of(host.store, match)) == 1


async def test_a_match_without_a_table_is_not_started(host, new_match):
    match = new_match()
    with pytest.raises(NoSuchMatch):
        await host.starter.start(sealed(match))
    assert await entries_of(host.store, match) == []


@pytest.mark.parametrize("wrong", [{"seats": 1}, {"seats": 5}, {"options": b'{"rounds":99}'}])
async def test_what_the_title_does_not_offer_is_not_started(host, new_match, wrong):
    match = new_match()
    await sit_down(host.store, match)
    with pytest.raises(OptionInvalid):
        await host.starter.start(sealed(match, **wrong))
    assert await entries_of(host.store, match) == []


async def test_a_match_begins_in_the_version_that_all_workers_can_play(store, new_match):
    newer = TOY[1].__class__()
    newer.rules_version = 2
    upgraded = Host(Library({1: TOY[1], 2: newer}, ""), store, newest=1)
    match = await started(upgraded, new_match())
    assert (await folded(upgraded, match)).started.rules_version == 1


async def test_a_version_that_this_worker_lacks_is_left_to_another(store, new_match):
    match = new_match()
    host = Host(TOY_LIBRARY, store, newest=2)
    await sit_down(host.store, match)
    with pytest.raises(TitleDown):
        await host.starter.start(sealed(match))
