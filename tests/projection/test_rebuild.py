import asyncio

import pytest

from services.core.errors import LimitReached, TitleDown
from services.core.ids import table_stream
from services.kit.memory_store import MemoryStore
from services.projection.follow import Follower
from services.projection.rebuild import STREAMS_AT_ONCE, rebuild
from tests.projection.published import gathered, played
from tests.rules.hosting import sit_down

pytestmark = pytest.mark.anyio


class Owners:
    """Those who tell of streams again. `silent`: none does any more."""

    def __init__(self, events):
        self.events = events
        self.silent = asyncio.Event()

    async def missing(self, title, stream, after):
        if self.silent.is_set():
            raise TitleDown(title, "no live worker")
        return self.events[stream][after:]


@pytest.fixture
async def stored(new_match):
    """More tables than are folded at once, one of them with a whole match; and their owners."""
    store, events = MemoryStore(), {}
    matches = [new_match() for _ in range(2 * STREAMS_AT_ONCE + 3)]
    for match in matches:
        await sit_down(store, match)
        events[table_stream(match)] = gathered(match)
    return store, Owners(events), matches


async def test_a_rebuild_finds_every_table_again(models, stored):
    store, owners, matches = stored
    done = await rebuild(store, models, owners, Follower(models, owners.missing))
    assert done.streams == len(matches)
    generations = await models.generations()
    assert len(generations) == 1
    assert all(await models.load(generations[0], matches))


async def test_a_rebuild_that_fails_leaves_the_read_models_as_they_are(models, stored):
    store, owners, matches = stored
    follower = Follower(models, owners.missing)
    await follower.follow([*gathered(matches[0]), *played(matches[0])])
    before = await models.generations()
    owners.silent.set()
    with pytest.raises(TitleDown):
        await rebuild(store, models, owners, follower)
    assert await models.generations() == before
    (summary,) = await models.load(before[0], matches[:1])
    assert summary.status == "over"


async def test_a_rebuild_whose_caller_goes_away_is_given_up(models, stored):
    store, owners, _ = stored
    asked = asyncio.Event()

    async def never(title, stream, after):
        asked.set()
        await asyncio.Event().wait()

    owners.missing = never
    rebuilding = asyncio.create_task(rebuild(store, models, owners, Follower(models, never)))
    await asked.wait()
    assert len(await models.generations()) == 2
    rebuilding.cancel()
    await asyncio.gather(rebuilding, return_exceptions=True)
    assert len(await models.generations()) == 1


async def test_a_second_rebuild_is_refused_and_leaves_what_the_first_one_fills(models, stored):
    store, owners, matches = stored
    asked, answering = asyncio.Event(), asyncio.Event()

    async def slow(title, stream, after):
        asked.set()
        await answering.wait()
        return await Owners.missing(owners, title, stream, after)

    owners.missing = slow
    follower = Follower(models, slow)
    first = asyncio.create_task(rebuild(store, models, owners, follower))
    await asked.wait()
    with pytest.raises(LimitReached, match="rebuild of the read models"):
        await rebuild(store, models, owners, follower)
    answering.set()
    await first
    (generation,) = await models.generations()
    assert all(await models.load(generation, matches))
