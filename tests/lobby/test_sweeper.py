"""What a lobby leaves undone when it dies, or when a title is down, another one does."""

import asyncio
import socket
from typing import Any

import pytest
from structlog.testing import capture_logs
from waystation.lobby.v1 import lobby_pb2 as pb

from services.core.ids import MatchId, table_stream
from services.core.tables import Table
from services.kit.moment import now_ms
from services.kit.redis_keys import stream_key
from services.kit.store import LOBBY
from services.lobby import deadlines, starter, sweeper
from services.lobby.desk import Desk
from services.lobby.starter import Starter
from tests.lobby.hosting import Site, types_of

pytestmark = pytest.mark.anyio


async def due_now(site: Site, match: str) -> None:
    await site.store.set_deadline(LOBBY, MatchId(match), 1)


async def deadlines_of(site: Site) -> list[MatchId]:
    return await site.store.deadlines_due(LOBBY, now_ms() + 10 * deadlines.OPEN_MS_MAX, 100)


async def no_settling(self: Starter, table: object) -> object:
    """A lobby killed right after it stored the player's event."""
    return table


async def test_a_table_sealed_by_a_lobby_that_died_is_started(
    two_lobbies: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = two_lobbies
    match = (await site.player("ann").creates(manual_start=True)).table.match
    await site.player("bob").takes(match)
    with monkeypatch.context() as patch:
        patch.setattr(Starter, "settle", no_settling)
        await site.player("ann").starts(match)
    assert await site.starts_of(match) == 0
    assert match in await deadlines_of(site)
    await due_now(site, match)
    await site.lobbies[1].sweeper.sweep()
    assert await site.starts_of(match) == 1
    assert match not in await deadlines_of(site)


async def test_a_full_table_of_a_lobby_that_died_is_sealed_and_started(
    two_lobbies: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = two_lobbies
    match = (await site.player("ann").creates()).table.match
    with monkeypatch.context() as patch:
        patch.setattr(Starter, "settle", no_settling)
        await site.player("bob").takes(match)
    assert types_of(await site.events(match)) == ["table_created", "seat_taken"]
    await due_now(site, match)
    await site.lobbies[1].sweeper.sweep()
    assert types_of(await site.events(match))[-1] == "table_sealed"
    assert await site.starts_of(match) == 1


async def test_a_start_is_due_within_seconds_without_anybody_asking(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = (await site.player("ann").creates()).table.match
    monkeypatch.setattr(Starter, "settle", no_settling)
    before = now_ms()
    await site.player("bob").takes(match)
    due = await site.store.deadlines_due(LOBBY, before + 2 * deadlines.STEP_MS, 100)
    assert match in due


async def test_a_seat_that_fills_the_table_is_kept_while_the_title_is_down(site: Site) -> None:
    match = (await site.player("ann").creates()).table.match
    await site.redis.delete("directory:live")
    await site.directory.refresh()
    taken = await site.player("bob").takes(match)
    assert taken.table.status == pb.TABLE_STATUS_SEALED
    await due_now(site, match)
    await site.lobbies[0].sweeper.sweep()
    assert await site.starts_of(match) == 0
    assert match in await deadlines_of(site)
    assert match not in await site.store.deadlines_due(LOBBY, now_ms(), 100)  # others have their turn
    await site.add_worker()
    await due_now(site, match)
    await site.lobbies[0].sweeper.sweep()
    assert await site.starts_of(match) == 1


async def test_a_worker_that_has_just_died_is_passed_over(site: Site) -> None:
    """Several dead addresses are announced: whichever is picked first, the live one is asked second."""
    await site.announce("127.0.0.1:1")
    for n in range(8):
        match = (await site.player(f"a{n}").creates()).table.match
        await site.player(f"b{n}").takes(match)
        assert await site.starts_of(match) == 1


async def test_a_sweep_of_all_lobbies_at_once_starts_a_match_once(
    two_lobbies: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = two_lobbies
    match = (await site.player("ann").creates()).table.match
    with monkeypatch.context() as patch:
        patch.setattr(Starter, "settle", no_settling)
        await site.player("bob").takes(match)
    await due_now(site, match)
    await asyncio.gather(*(lobby.sweeper.sweep() for lobby in site.lobbies * 3))
    assert types_of(await site.events(match)) == ["table_created", "seat_taken", "table_sealed"]
    assert await site.starts_of(match) == 1


@pytest.mark.parametrize("quick", [False, True])
async def test_a_table_where_nobody_comes_is_closed(
    site: Site, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = site.player("ann")
    match = (await ann.quick() if quick else await ann.creates()).table.match
    await due_now(site, match)
    await site.lobbies[0].sweeper.sweep()
    assert (await ann.sees(match)).table.status == pb.TABLE_STATUS_OPEN
    assert match in await deadlines_of(site)
    limit = "QUICK_MS_MAX" if quick else "OPEN_MS_MAX"
    monkeypatch.setattr(deadlines, limit, 0)
    await due_now(site, match)
    await site.lobbies[0].sweeper.sweep()
    assert (await ann.sees(match)).table.status == pb.TABLE_STATUS_CLOSED
    assert (await site.events(match))[-1].by == "system"
    assert match not in await deadlines_of(site)


async def test_a_deadline_without_a_table_is_forgotten(site: Site) -> None:
    await due_now(site, "nowhere")
    await site.lobbies[0].sweeper.sweep()
    assert await deadlines_of(site) == []


async def test_a_damaged_table_does_not_stop_the_others(site: Site) -> None:
    damaged = (await site.player("ann").creates()).table.match
    await site.redis.xadd(stream_key(table_stream(MatchId(damaged))), {"e": b"{}", "h": bytes(32)}, id="2-0")
    waits = (await site.player("ann").creates()).table.match
    for match in (damaged, waits):
        await due_now(site, match)
    await site.lobbies[0].sweeper.sweep()
    assert set(await deadlines_of(site)) == {damaged, waits}
    assert await site.store.deadlines_due(LOBBY, now_ms(), 10) == []


async def test_a_table_that_fills_while_it_is_swept_is_not_put_off(
    two_lobbies: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = two_lobbies
    match = (await site.player("ann").quick()).table.match
    await due_now(site, match)
    sweeping = site.lobbies[1].sweeper
    set_deadline = sweeping._store.set_deadline

    async def set_late(*given: Any) -> None:
        if len(await site.events(match)) == 1:
            await site.player("bob").takes(match)
        await set_deadline(*given)

    monkeypatch.setattr(Starter, "settle", no_settling)
    monkeypatch.setattr(sweeping._store, "set_deadline", set_late)
    await sweeping.sweep()
    assert types_of(await site.events(match)) == ["table_created", "seat_taken"]
    assert match in await site.store.deadlines_due(LOBBY, now_ms() + deadlines.STEP_MS, 10)


async def test_a_fault_of_ours_at_one_table_does_not_stop_the_others(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "AT_ONCE", 1)
    bad, good = [(await site.player("ann").creates()).table.match for _ in range(2)]
    find = Desk.find

    async def find_or_fail(self: Desk, match: MatchId) -> Table:
        if match == bad:
            raise ZeroDivisionError
        return await find(self, match)

    monkeypatch.setattr(Desk, "find", find_or_fail)
    await site.store.set_deadline(LOBBY, MatchId(bad), 1)
    await site.store.set_deadline(LOBBY, MatchId(good), 2)
    with capture_logs() as logged:
        await site.lobbies[0].sweeper.sweep()
    assert [(line["event"], line["match"]) for line in logged] == [("table_failed", bad)]
    assert set(await deadlines_of(site)) == {bad, good}
    assert await site.store.deadlines_due(LOBBY, now_ms(), 10) == []


async def test_a_title_that_does_not_answer_holds_up_the_last_player_for_a_moment_only(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starter, "SETTLE_S_MAX", 0.1)
    match = (await site.player("ann").creates()).table.match
    with socket.create_server(("127.0.0.1", 0)) as silent:
        await site.redis.delete("directory:live")
        await site.announce(f"127.0.0.1:{silent.getsockname()[1]}")
        taken = await site.player("bob").takes(match)
    assert (taken.seat, taken.table.status) == (1, pb.TABLE_STATUS_SEALED)
    assert await site.starts_of(match) == 0
    assert match in await deadlines_of(site)
