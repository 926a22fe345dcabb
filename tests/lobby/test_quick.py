"""Quick matches: who wants the same meets, once, whatever is repeated or goes wrong in between."""

from typing import Any

import pytest

from services.core import errors
from services.core.ids import MatchId
from services.lobby.desk import Carried
from services.lobby.waiting import Waiting
from tests.lobby.hosting import Site, all_of, types_of

pytestmark = pytest.mark.anyio


async def test_the_second_player_meets_the_first_and_the_match_starts(site: Site) -> None:
    first, second = await site.player("ann").quick(), await site.player("bob").quick()
    assert first.table.match == second.table.match
    assert (first.seat, second.seat) == (0, 1)
    assert types_of(await site.events(first.table.match)) == ["table_created", "seat_taken", "table_sealed"]
    assert await site.starts_of(first.table.match) == 1


async def test_a_third_player_gets_a_table_of_their_own(site: Site) -> None:
    met = [await site.player(name).quick() for name in ("ann", "bob", "cara")]
    assert met[2].table.match != met[0].table.match
    assert met[2].seat == 0


@pytest.mark.parametrize(
    "other",
    [{"seats": 3}, {"options": b'{"rounds":5}'}, {"clock": b'{"kind":"per_turn","turn_ms":60000}'}],
    ids=["seats", "options", "clock"],
)
async def test_who_wants_something_else_is_not_seated_together(site: Site, other: dict[str, object]) -> None:
    waits = await site.player("ann").quick()
    assert (await site.player("bob").quick(**other)).table.match != waits.table.match


async def test_options_left_out_and_written_out_are_the_same_wish(site: Site) -> None:
    waits = await site.player("ann").quick()
    assert (await site.player("bob").quick(options=b'{"rounds":3}', seats=2)).table.match == waits.table.match


async def test_a_table_that_was_created_is_not_filled_by_quick_matches(site: Site) -> None:
    created = await site.player("ann").creates()
    assert (await site.player("bob").quick()).table.match != created.table.match


async def test_who_asks_again_while_waiting_waits_at_the_same_table(site: Site) -> None:
    ann = site.player("ann")
    first, again = await ann.quick(), await ann.quick()
    assert again.table.match == first.table.match
    assert again.seat == 0


async def test_the_same_request_again_finds_the_same_seat_even_after_the_match_began(site: Site) -> None:
    ann, bob = site.player("ann"), site.player("bob")
    waits = await ann.quick("q1")
    joined = await bob.quick("q1")
    assert (await bob.quick("q1")).table == joined.table
    assert (await ann.quick("q1")).table.match == waits.table.match
    assert len(await site.events(waits.table.match)) == 3


async def test_a_request_that_differs_is_a_reused_request_id(site: Site) -> None:
    ann = site.player("ann")
    await ann.quick("q1")
    with pytest.raises(errors.RequestIdReused):
        await ann.quick("q1", seats=3)


async def test_copies_of_one_request_at_once_take_one_seat(two_lobbies: Site) -> None:
    site = two_lobbies
    waits = await site.player("ann").quick()
    answers = await all_of(*(site.player("bob", n % 2).quick("q1") for n in range(8)))
    assert {(answer.table.match, answer.seat) for answer in answers} == {(waits.table.match, 1)}
    tables = {stored.table.id for stored in site.told}
    assert tables == {waits.table.match}


async def test_twenty_who_come_at_once_make_ten_matches(two_lobbies: Site) -> None:
    site = two_lobbies
    answers = await all_of(*(site.player(f"p{n}", n % 2).quick() for n in range(20)))
    matches = {answer.table.match for answer in answers}
    assert len(matches) == 10
    assert [await site.starts_of(match) for match in matches] == [1] * 10


async def test_a_stale_hint_is_passed_over_and_removed(site: Site) -> None:
    gone = await site.player("ann").quick()
    await site.player("ann").leaves(gone.table.match)
    assert (await site.player("bob").quick()).table.match != gone.table.match
    (key,) = [key async for key in site.redis.scan_iter("waiting:*") if await site.redis.type(key) == b"zset"]
    assert await site.redis.zscore(key, gone.table.match) is None


async def test_a_hint_that_got_lost_is_written_again_by_the_sweeper(site: Site) -> None:
    waits = (await site.player("ann").quick()).table.match
    for key in [key async for key in site.redis.scan_iter("waiting:*")]:
        await site.redis.delete(key)
    await site.store.set_deadline("lobby", MatchId(waits), 1)
    await site.lobbies[0].sweeper.sweep()
    assert (await site.player("bob").quick()).table.match == waits


async def test_an_answer_that_got_lost_is_found_again_at_the_table_where_it_sat_down(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = (await site.player("ann").quick(seats=3)).table.match
    desk = site.lobbies[0].desk
    carry_out = desk.carry_out

    async def carries_out_and_dies(*given: Any, **more: Any) -> Carried:
        await carry_out(*given, **more)
        raise errors.StoreUnavailable("killed")

    with monkeypatch.context() as patch:
        patch.setattr(desk, "carry_out", carries_out_and_dies)
        with pytest.raises(errors.StoreUnavailable):
            await site.player("bob").quick("q1", seats=3)
    await Waiting(site.redis).remove(await desk.find(MatchId(waits)))
    found = await site.player("bob").quick("q1", seats=3)
    assert (found.table.match, found.seat) == (waits, 1)
    assert types_of(await site.events(waits)) == ["table_created", "seat_taken"]


async def test_a_repeat_needs_no_title_that_is_up(site: Site) -> None:
    await site.player("ann").quick()
    joined = await site.player("bob").quick("q1")
    await site.redis.delete("directory:live")
    await site.directory.refresh()
    assert await site.player("bob").quick("q1") == joined
    with pytest.raises(errors.TitleDown):
        await site.player("bob").quick("q2")
