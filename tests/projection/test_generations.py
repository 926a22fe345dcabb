import asyncio

import pytest

from services.core.errors import RebuildUnderWay, ServiceDown, StoreUnavailable
from services.projection import generations
from services.projection.follow import Follower
from services.projection.generations import Claim, claimed
from services.projection.models import ReadModels
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


async def swapped(models, *matches):
    """A rebuild from its beginning to its end."""
    async with models.next_generation() as claim:
        for match in matches:
            await Follower(models, nothing_missing).fold(claim.number, gathered(match))


class Interrupted(ReadModels):
    """A reader who is held up twice, each time until a whole rebuild with these matches is done."""

    def __init__(self, link, *matches):
        super().__init__(link)
        self.matches = matches
        self.times = 2

    async def load(self, generation, matches):
        await self._held_up()
        return await super().load(generation, matches)

    async def _standing(self, *given):
        await self._held_up()
        return await super()._standing(*given)

    async def _held_up(self):
        if self.times:
            self.times -= 1
            await swapped(ReadModels(self._link), *self.matches)


async def test_who_reads_while_generations_are_swapped_finds_what_there_is(models, link, new_match):
    match = new_match()
    await swapped(models, match)
    assert (await Interrupted(link, match).summary(match)).match == match
    page = await Interrupted(link, match).page("*|*|public", 5, "")
    assert [summary.match for summary in page.summaries] == [match]


async def test_a_swap_is_done_even_if_what_it_swapped_out_cannot_be_removed(models, new_match, monkeypatch):
    async def away(link, is_gone):
        raise StoreUnavailable("away")

    match = new_match()
    monkeypatch.setattr(generations, "_remove", away)
    await swapped(models, match)
    (present,) = await models.generations()
    assert all(await models.load(present, [match]))


async def test_why_a_rebuild_ended_is_told_though_its_claim_cannot_be_given_up(models, link, monkeypatch):
    async def away(claim):
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(Claim, "give_up", away)
        with pytest.raises(ServiceDown):
            async with models.next_generation():
                raise ServiceDown("the lobby", "waited in vain")
    await link.call("DEL", BUILDING)
