import random

import pytest

from services.core.errors import BadRequest, TitleDown
from services.core.ids import MatchId
from services.projection.follow import Follower
from tests.projection.published import gathered, played

pytestmark = pytest.mark.anyio


async def nothing_missing(title, stream, after):
    raise AssertionError(f"asked for {stream} after {after}")


async def summaries(models, *matches):
    return await models.load((await models.generations())[0], list(matches))


async def ids(models, name, size=100, token=""):
    page = await models.page(name, size, token)
    return [summary.match for summary in page.summaries], page.next_token


async def test_events_twice_and_out_of_order_fold_to_the_same_summary(models, new_match):
    plain, shuffled = new_match(), new_match()
    await Follower(models, nothing_missing).follow([*gathered(plain), *played(plain)])
    events = [*gathered(shuffled), *played(shuffled)] * 2
    random.Random(1).shuffle(events)
    follower = Follower(models, nothing_missing)
    await follower.follow(events)
    await follower.follow(events[:5])
    one, other = await summaries(models, plain, shuffled)
    assert (one.status, one.play.cursor, one.play.outcome) == ("over", other.play.cursor, other.play.outcome)


async def test_a_gap_is_read_from_the_owner_and_never_skipped(models, new_match):
    match = new_match()
    events = played(match)
    asked = []

    async def missing(title, stream, after):
        asked.append((title, stream, after))
        return events[after:]

    follower = Follower(models, missing)
    await follower.follow(events[:2])
    await follower.follow([events[4]])
    (summary,) = await summaries(models, match)
    assert asked == [("high_card", f"match/{match}", 2)]
    assert summary.play.cursor.version == len(events)


async def test_while_the_owner_does_not_answer_nothing_of_the_match_is_folded(models, new_match):
    match = new_match()
    events = played(match)

    async def missing(title, stream, after):
        raise TitleDown(title, "no worker")

    follower = Follower(models, missing)
    await follower.follow(events[:2])
    with pytest.raises(TitleDown):
        await follower.follow([events[4]])
    (summary,) = await summaries(models, match)
    assert summary.play.cursor.version == 2


async def test_a_silent_owner_holds_up_no_other_match(models, new_match):
    stuck, other = new_match(), new_match()

    async def missing(title, stream, after):
        raise TitleDown(title, "no worker")

    follower = Follower(models, missing)
    with pytest.raises(TitleDown):
        await follower.follow([played(stuck)[3], *played(other)])
    assert [summary and summary.status for summary in await summaries(models, stuck, other)] == [None, "over"]


async def test_a_fork_is_refolded_from_its_beginning(models, new_match):
    match, asked = new_match(), []
    lost, kept = played(match, turns=3), played(match)
    for event in lost[2:]:
        event.hash = b"\xee" * 32

    async def missing(title, stream, after):
        asked.append(after)
        return kept[after:]

    follower = Follower(models, missing)
    await follower.follow(lost)
    await follower.follow([kept[3]])
    (summary,) = await summaries(models, match)
    assert asked == [0]
    assert summary.play.cursor.version == len(kept)
    assert summary.play.cursor.hash == kept[-1].hash.hex()


async def test_a_shorter_history_in_place_of_a_lost_one_is_refolded_too(models, new_match):
    match, asked = new_match(), []
    lost, kept = played(match), played(match, turns=3)
    for event in kept[2:]:  # what was played again, later
        event.hash = b"\xee" * 32
        event.event = event.event.replace(b'"at":', b'"at":9')

    async def missing(title, stream, after):
        asked.append(after)
        return kept[after:]

    follower = Follower(models, missing)
    await follower.follow(lost)
    await follower.follow(lost[:2])  # what comes twice is no fork
    assert asked == []
    await follower.follow(kept[2:])
    (summary,) = await summaries(models, match)
    assert asked == [0]
    assert (summary.status, summary.play.cursor.version) == ("running", len(kept))
    assert summary.play.cursor.hash == kept[-1].hash.hex()


async def test_a_summary_that_somebody_else_changed_meanwhile_is_folded_again(models, new_match, monkeypatch):
    match, save = new_match(), models.save
    follower = Follower(models, nothing_missing)

    async def overtaken(generation, changes):
        monkeypatch.setattr(models, "save", save)
        await follower.follow(gathered(match))
        return await save(generation, changes)

    monkeypatch.setattr(models, "save", overtaken)
    await follower.follow(played(match))
    (summary,) = await summaries(models, match)
    assert (summary.table.cursor.version, summary.play.cursor.version) == (3, 7)


async def test_two_followers_of_the_same_events_agree(models, new_match):
    import asyncio

    matches = [new_match() for _ in range(10)]
    events = [event for match in matches for event in (*gathered(match), *played(match))]
    await asyncio.gather(
        Follower(models, nothing_missing).follow(events), Follower(models, nothing_missing).follow(events)
    )
    found = await summaries(models, *matches)
    assert {(summary.status, summary.play.cursor.version) for summary in found} == {("over", 7)}


async def test_pages_follow_each_other_without_loss_or_repetition_even_in_one_millisecond(models, new_match):
    matches = {new_match() for _ in range(150)}
    follower = Follower(models, nothing_missing)
    for place, match in enumerate(matches):
        await follower.follow(gathered(match, at=1_000 + place // 75, sealed=False))
    found, token = await ids(models, "*|open|public", 7)
    while token:
        more, token = await ids(models, "*|open|public", 7, token)
        found += more
    assert len(found) == 150
    assert set(found) == matches


async def test_a_match_leaves_the_list_of_its_old_status(models, new_match):
    match = new_match()
    follower = Follower(models, nothing_missing)
    await follower.follow(gathered(match))
    await follower.follow(played(match, turns=2))
    assert match not in (await ids(models, "*|open|public"))[0]
    assert match in (await ids(models, "high_card|running|own:bob"))[0]


async def test_a_made_up_page_token_is_refused(models):
    with pytest.raises(BadRequest, match="page_token"):
        await models.page("*|*|public", 5, "nonsense")


async def test_a_rebuilt_generation_is_filled_beside_the_present_one_and_swapped(models, new_match):
    old, young = new_match(), new_match()
    follower = Follower(models, nothing_missing)
    await follower.follow(gathered(old))
    async with models.next_generation() as claim:
        await follower.follow(gathered(young))
        assert await summaries(models, old) != [None]
        await follower.fold(claim.number, gathered(old))
    assert await models.generations() == [claim.number]
    assert [summary.match for summary in await summaries(models, old, young)] == [old, young]
    assert set((await ids(models, "*|open|public"))[0]) == {old, young}


async def test_an_unknown_match_has_no_summary(models):
    assert await summaries(models, MatchId("nobody")) == [None]
