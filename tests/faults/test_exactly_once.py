"""The same Idempotency-Key, one to five times, through different gateways: one event, one receipt."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest

from deploy.local.servers import free_port
from deploy.local.system import System
from services.core.ids import MatchId, match_stream, table_stream
from services.kit.redis_store import RedisStore
from tests.e2e.conftest import UNLIMITED
from tests.e2e.site import Player, Refused, Site, gathered
from tests.rules.hosting import events_in

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    running = System(
        data=tmp_path_factory.mktemp("system"),
        workers={"wayfare": 2},
        ports=[free_port(), free_port()],
        env=UNLIMITED,
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture
async def site(system: System) -> AsyncIterator[Site]:
    async with Site([f"http://{system.host}:{port}" for port in system.ports]) as site:
        yield site


@pytest.fixture
async def store(system: System) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(system.redis_url)
    yield store
    await store.close()


async def posted(site: Site, gateway: int, player: Player, path: str, key: str, body: Any) -> Any:
    """The answer of one gateway, asked once more whenever it says "later"."""
    assert site.client is not None
    headers = {"Authorization": f"Bearer {player.token}", "Idempotency-Key": key}
    url = site.urls[gateway % len(site.urls)] + path
    for _ in range(60):
        try:
            async with site.client.post(url, headers=headers, json=body) as response:
                if response.status not in (429, 503, 504):
                    assert response.status < 300, await response.text()
                    return json.loads(await response.read())
        except aiohttp.ClientConnectionError:
            pass
        await asyncio.sleep(0.25)
    raise AssertionError(f"no answer to {path}")


async def at_once(site: Site, times: int, player: Player, path: str, body: Any) -> tuple[str, Any]:
    """The key used, and the one answer that `times` requests got at the same time."""
    key = uuid.uuid4().hex
    answers = await asyncio.gather(
        *(posted(site, gateway, player, path, key, body) for gateway in range(times))
    )
    assert answers == [answers[0]] * times
    return key, answers[0]


async def stored_requests(store: RedisStore, stream: Any, key: str) -> int:
    return sum(event.request_id == key for event in events_in(await store.read(stream)))


@pytest.mark.parametrize("times", [1, 2, 3, 4, 5])
async def test_a_move_sent_many_times_at_once_is_stored_once(site: Site, store: RedisStore, times: int):
    players = await site.players(2)
    match = await gathered(players, "wayfare", options={"size": 6})
    page = await players[0].legal_moves(match)
    body = {"move": page["choices"][0]["move"], "expected_version": page["version"]}
    key, receipt = await at_once(site, times, players[0], f"/v1/matches/{match}/moves", body)
    assert receipt["version"] == page["version"] + 1
    assert await stored_requests(store, match_stream(MatchId(match)), key) == 1


@pytest.mark.parametrize("times", [2, 5])
async def test_a_table_asked_for_many_times_at_once_is_one_table(site: Site, store: RedisStore, times: int):
    host = await site.player()
    body = {"title": "wayfare", "options": {"size": 6}}
    key, table = await at_once(site, times, host, "/v1/matches", body)
    assert await stored_requests(store, table_stream(MatchId(table["match"])), key) == 1


@pytest.mark.parametrize("times", [2, 5])
async def test_a_seat_asked_for_many_times_at_once_is_taken_once(site: Site, store: RedisStore, times: int):
    host, guest = await site.players(2)
    match = (await host.create("wayfare", seats=2))["match"]
    key = uuid.uuid4().hex
    path = f"/v1/matches/{match}/seats"
    await asyncio.gather(*(posted(site, gateway, guest, path, key, {}) for gateway in range(times)))
    assert await stored_requests(store, table_stream(MatchId(match)), key) == 1


async def test_a_key_used_for_something_else_is_refused(site: Site, store: RedisStore):
    players = await site.players(2)
    key = uuid.uuid4().hex
    made = await players[0].create("wayfare", key, seats=2, options={"size": 6})
    with pytest.raises(Refused, match="REQUEST_ID_REUSED"):
        await players[0].create("wayfare", key, seats=2, options={"size": 8})
    match = await gathered(players, "wayfare", options={"size": 6})
    page = await players[0].legal_moves(match)
    one, other = (choice["move"] for choice in page["choices"][:2])
    await players[0].move(match, one, page["version"], key)
    with pytest.raises(Refused, match="REQUEST_ID_REUSED"):
        await players[0].move(match, other, page["version"], key)
    assert await store.heads([table_stream(MatchId(made["match"]))]) == [1]
    assert await stored_requests(store, match_stream(MatchId(match)), key) == 1


async def test_the_same_receipt_comes_after_all_workers_and_gateways_were_killed(
    system: System, site: Site, store: RedisStore
):
    players = await site.players(2)
    match = await gathered(players, "wayfare", options={"size": 6})
    page = await players[0].legal_moves(match)
    body = {"move": page["choices"][0]["move"], "expected_version": page["version"]}
    path = f"/v1/matches/{match}/moves"
    key, before = await at_once(site, 2, players[0], path, body)
    for name, service in system.services.items():
        if name.startswith(("rules", "gateway")):
            service.kill()
            service.start()
    after = [await posted(site, gateway, players[0], path, key, body) for gateway in range(2)]
    assert after == [before, before]
    assert await stored_requests(store, match_stream(MatchId(match)), key) == 1
