"""What is bounded, reached: a typed answer each time. And the page of limits, which tells the truth."""

import json
import re
from pathlib import Path

import aiohttp
import msgspec
import pytest

from deploy.local.system import ROOT
from gateway.live.session import FOLLOWS_MAX
from gateway.settings import GatewaySettings
from services.lobby.__main__ import LobbySettings
from services.lobby.decide import CHANGES_MAX
from services.rules.__main__ import RulesSettings
from tests.e2e.site import Refused, gathered

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PAGE = Path(ROOT, "docs", "limits.md")
TABLE = {"title": "make_way"}
TOO_MUCH = {
    "a body": ("/v1/matches", {**TABLE, "nonce": "x" * 70_000}, 413, "TOO_LARGE"),
    "options": ("/v1/matches", {**TABLE, "options": {"x": "x" * 9_000}}, 413, "TOO_LARGE"),
    "seats": ("/v1/matches", {**TABLE, "seats": 65}, 400, "BAD_REQUEST"),
    "seats of the title": ("/v1/matches", {**TABLE, "seats": 5}, 400, "OPTION_INVALID"),
    "a nonce": ("/v1/matches", {**TABLE, "nonce": "x" * 65}, 400, "BAD_REQUEST"),
    "a title": ("/v1/matches", {"title": "x" * 65}, 400, "BAD_REQUEST"),
    "a seat": ("/v1/matches/{match}/seats", {"seat": 65}, 400, "BAD_REQUEST"),
    "a code": ("/v1/matches/{match}/seats", {"invite": "x" * 129}, 400, "BAD_REQUEST"),
    "a move": (
        "/v1/matches/{match}/moves",
        {"move": {"type": "x" * 17_000}, "expected_version": 1},
        413,
        "TOO_LARGE",
    ),
    "a version": (
        "/v1/matches/{match}/moves",
        {"move": {}, "expected_version": 2**53 + 2},
        400,
        "BAD_REQUEST",
    ),
}
PAGES = {
    "?page_size=101": ("/v1/matches", 400),
    "?page_size=1001": ("/v1/matches/{match}/legal-moves", 400),
    "?page_token=" + "x" * 257: ("/v1/matches", 400),
}


@pytest.mark.parametrize("what", TOO_MUCH)
async def test_too_much_of_it_is_refused_by_its_name(site, what):
    path, body, status, reason = TOO_MUCH[what]
    players = await site.players(2)
    match = await gathered(players, "make_way")
    with pytest.raises(Refused) as refused:
        await players[0].ask("POST", path.format(match=match), body=body)
    assert (refused.value.status, refused.value.reason) == (status, reason)


@pytest.mark.parametrize("query", PAGES)
async def test_a_page_that_is_too_large_is_refused(site, query):
    path, status = PAGES[query]
    players = await site.players(2)
    match = await gathered(players, "make_way")
    with pytest.raises(Refused) as refused:
        await players[0].ask("GET", path.format(match=match) + query)
    assert (refused.value.status, refused.value.reason) == (status, "BAD_REQUEST")


async def test_a_host_has_so_many_open_tables_and_no_more(site):
    limit = LobbySettings().open_tables_per_player
    host = await site.player()
    made = [(await host.create("make_way"))["match"] for _ in range(limit)]
    for ask in ({"path": "/v1/matches"}, {"path": "/v1/quick-matches"}):
        with pytest.raises(Refused) as refused:
            await host.ask("POST", body=TABLE, **ask)
        assert (refused.value.status, refused.value.reason) == (409, "LIMIT_REACHED")
        assert refused.value.problem["limit"] == limit
    await host.ask("DELETE", f"/v1/matches/{made[0]}/seats/me")
    await host.create("make_way")


async def test_a_table_bears_so_many_comings_and_goings_and_no_more(site):
    host, restless, other = await site.players(3)
    match = (await host.create("make_way", start="manual"))["match"]
    for _ in range((CHANGES_MAX - 1) // 2):
        await restless.join(match)
        await restless.ask("DELETE", f"/v1/matches/{match}/seats/me")
    await restless.join(match)
    await restless.ask("DELETE", f"/v1/matches/{match}/seats/me")
    with pytest.raises(Refused, match=r"409.*LIMIT_REACHED"):
        await other.join(match)
    await host.ask("DELETE", f"/v1/matches/{match}/seats/me")


@pytest.mark.parametrize("who", ["PLAYER", "ADDRESS"])
async def test_who_asks_too_often_is_told_when_to_come_back(start_gateway, site, who):
    url = start_gateway(**{f"RATE_PER_{who}": "0.01", f"BURST_PER_{who}": "30"})
    player = await site.player()
    headers = {"Authorization": f"Bearer {player.token}"}
    for _ in range(31):
        async with site.client.get(f"{url}/v1/matches", headers=headers) as answer:
            problem = await answer.json()
            if answer.status == 429:
                break
    assert (answer.status, problem.get("reason")) == (429, "TOO_MANY_REQUESTS")
    assert int(answer.headers["Retry-After"]) == problem["retry_after_s"] >= 1


@pytest.mark.parametrize("setting", ["SOCKETS_PER_PLAYER", "SOCKETS_PER_ADDRESS", "SOCKETS"])
async def test_one_live_connection_too_many_is_told_to_come_later(start_gateway, site, setting):
    url = start_gateway(**{setting: "1"})
    player = await site.player()
    headers = {"Authorization": f"Bearer {player.token}"}
    async with site.client.ws_connect(f"{url}/v1/live", headers=headers) as first:
        assert (await first.receive_json(timeout=60))["type"] == "hello"
        async with site.client.ws_connect(f"{url}/v1/live", headers=headers) as second:
            assert (await second.receive_json(timeout=60))["reason"] == "OVERLOADED"
            assert (await second.receive(timeout=60)).type is aiohttp.WSMsgType.CLOSE
            assert second.close_code == 1013


async def test_a_socket_follows_so_many_matches_and_no_more(system, site):
    player = await site.player()
    match = (await player.create("make_way"))["match"]
    headers = {"Authorization": f"Bearer {player.token}"}
    async with site.client.ws_connect(f"{system.url}/v1/live", headers=headers) as live:
        tables = [match, *[(await player.create("make_way"))["match"] for _ in range(FOLLOWS_MAX)]]
        for number, table in enumerate(tables):
            await live.send_str(json.dumps({"type": "follow", "id": str(number), "match": table}))
        while (said := await live.receive_json(timeout=60))["type"] != "problem":
            pass
        assert (said["reason"], said["limit"]) == ("OVERLOADED", FOLLOWS_MAX)


def test_the_page_of_limits_names_every_setting_that_bounds_something_and_its_default():
    told: dict[str, set[float]] = {}
    for default, variable in re.findall(r"\| ([\d.]+)[^|]*\| `([A-Z_]+)` \|", PAGE.read_text()):
        told.setdefault(variable, set()).add(float(default))
    for settings in (GatewaySettings, RulesSettings, LobbySettings):
        for field in msgspec.structs.fields(settings):
            if re.match("rate_|burst_|guess_|sockets|cached_|open_|token_s", field.name):
                assert float(field.default) in told.get(field.name.upper(), set()), field.name
