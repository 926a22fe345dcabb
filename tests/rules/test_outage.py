"""The store goes away in the middle of commands, and comes back."""

import asyncio
import random

import pytest

from deploy.local.servers import Valkey
from services.core.commands import SubmitMove
from services.core.errors import StoreUnavailable
from services.kit.redis_store import RedisStore
from services.rules.desk import Accepted
from tests.rules.hosting import ANN, TOY_LIBRARY, Host, any_move, entries_of, started

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def valkey(tmp_path):
    with Valkey(tmp_path, fsync="always") as valkey:
        yield valkey


@pytest.mark.parametrize("it_dies", [True, False], ids=["dead", "slow"])
async def test_a_command_whose_outcome_is_unknown_is_stored_once_when_it_is_repeated(
    valkey, new_match, it_dies
):
    """A dead store has not stored it; a slow one does so after everybody has given up."""
    store = await RedisStore.open(valkey.url, trip_s_max=0.5)
    host = Host(TOY_LIBRARY, store)
    matches = [await started(host, new_match()) for _ in range(60)]
    rng = random.Random(1)
    moves = [SubmitMove(move=any_move(await host.now(match), 0, rng)) for match in matches]

    async def attempt() -> list[Accepted | BaseException]:
        asked = (host.does(match, ANN, move, "once") for match, move in zip(matches, moves, strict=True))
        return await asyncio.gather(*asked, return_exceptions=True)

    valkey.pause()
    first = await attempt()
    assert {type(answer) for answer in first} == {StoreUnavailable}
    assert all(host.shelf.find(match) is None for match in matches)
    if it_dies:
        valkey.kill()
        valkey.start()
    valkey.resume()
    assert {type(answer) for answer in await attempt()} == {Accepted}
    for match in matches:
        assert len(await entries_of(store, match)) == 2
    await store.close()


async def test_a_command_that_meets_no_store_is_refused_as_an_outage(valkey, new_match):
    store = await RedisStore.open(valkey.url)
    host = Host(TOY_LIBRARY, store)
    match = await started(host, new_match())
    move = SubmitMove(move=any_move(await host.now(match), 0, random.Random(2)))
    valkey.kill()
    with pytest.raises(StoreUnavailable):
        await host.does(match, ANN, move, "once")
    valkey.start()
    assert (await host.does(match, ANN, move, "once")).version == 2
    await store.close()
