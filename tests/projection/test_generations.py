import asyncio

import pytest

from services.core.errors import RebuildUnderWay, ServiceDown
from services.projection.follow import Follower
from services.projection.generations import claimed
from tests.projection.published import gathered

pytestmark = pytest.mark.anyio

SHORT_S = 0.02
BUILDING = "{projection}:building"


async def nothing_missing(title, stream, after):
    raise AssertionError(f"asked for {stream} after {after}")


async def until_lapsed(models):
    while len(await models.generations()) > 1:  # noqa: ASYNC110 - a key that expires sets no event
        await asyncio.sleep(SHORT_S)


async def keys_of(link, number):
    _, found = await link.call("SCAN", 0, "MATCH", f"{{projection}}:{number}:*", "COUNT", 100_000)
    return found


async def test_while_one_generation_is_filled_nobody_may_claim_another(models, link):
    async with models.next_generation() as claim:
        with pytest.raises(RebuildUnderWay):
            await claimed(link)
        assert (await models.generations())[1:] == [claim.number]
    assert await models.generations() == [claim.number]


async def test_a_claim_that_nobody_renews_is_in_nobodys_way_for_long(models, link):
    abandoned = await claimed(link, SHORT_S)
    await until_lapsed(models)
    async with models.next_generation() as claim:
        assert claim.number > abandoned.number
    assert await models.generations() == [claim.number]


async def test_a_claim_that_is_renewed_lasts_longer(models, link):
    claim = await claimed(link, 60.0)
    await link.call("PEXPIRE", BUILDING, 10_000)
    await claim.renew()
    assert await link.call("PTTL", BUILDING) > 10_000
    await claim.give_up()


async def test_who_has_lost_a_claim_unawares_neither_swaps_nor_touches_what_the_next_one_fills(
    models, link, new_match
):
    match, follower = new_match(), Follower(models, nothing_missing)
    late = await claimed(link, SHORT_S)
    await until_lapsed(models)
    async with models.next_generation() as claim:
        await follower.fold(claim.number, gathered(match))
        with pytest.raises(ServiceDown, match="lapsed"):
            await late.renew()
        with pytest.raises(ServiceDown, match="lapsed"):
            await late.fulfil()
        await late.give_up()
    assert await models.generations() == [claim.number]
    assert all(await models.load(claim.number, [match]))


async def test_what_a_lapsed_claim_left_goes_with_the_next_swap(models, link, new_match):
    abandoned = await claimed(link, SHORT_S)
    await Follower(models, nothing_missing).fold(abandoned.number, gathered(new_match()))
    await until_lapsed(models)
    assert await keys_of(link, abandoned.number)
    async with models.next_generation():
        pass
    assert await keys_of(link, abandoned.number) == []


async def test_what_an_older_release_left_half_filled_is_neither_waited_for_nor_gone_on_with(
    models, link, new_match
):
    await Follower(models, nothing_missing).fold(2, gathered(new_match()))
    await link.call("SET", BUILDING, 2)
    async with models.next_generation() as claim:
        assert await keys_of(link, claim.number) == []
    assert await keys_of(link, 2) == []


async def test_a_swap_whose_answer_was_lost_is_not_undone(models, link, new_match):
    match = new_match()
    claim = await claimed(link)
    await Follower(models, nothing_missing).fold(claim.number, gathered(match))
    await claim.fulfil()
    await claim.give_up()
    assert await models.generations() == [claim.number]
    assert all(await models.load(claim.number, [match]))
