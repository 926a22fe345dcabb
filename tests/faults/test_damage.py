"""A damaged match in a running system is refused by name, and all others go on; a Redis nobody may trust."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis

from deploy.local.servers import Valkey, free_port
from deploy.local.system import ROOT, System
from services.core.ids import MatchId, match_stream
from services.kit.redis_keys import seed_key, stream_key
from services.kit.redis_store import RedisStore
from tests.e2e.conftest import UNLIMITED
from tests.e2e.site import Refused, Site, gathered

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """One worker that keeps a single match folded: every other one is read from its stream."""
    running = System(
        data=tmp_path_factory.mktemp("system"),
        workers={"wayfare": 1},
        ports=[free_port()],
        env={**UNLIMITED, "CACHED_MATCHES": "1"},
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture
async def site(system: System) -> AsyncIterator[Site]:
    async with Site([system.url]) as site:
        yield site


@pytest.fixture
async def store(system: System) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(system.redis_url)
    yield store
    await store.close()


async def played(site: Site, moves: int) -> tuple[str, list]:
    """A match that has seen some moves, and its players."""
    players = await site.players(2)
    match = await gathered(players, "wayfare", options={"size": 6})
    for _ in range(moves):
        view = await players[0].view(match)
        mover = players[view["to_act"][0]]
        page = await mover.legal_moves(match)
        await mover.move(match, page["choices"][0]["move"], page["version"])
    return match, players


async def replace(store: RedisStore, match: str, version: int, body: bytes) -> None:
    """Writes the stream anew with another body at `version`, its hash left as it was."""
    key = stream_key(match_stream(MatchId(match)))
    entries = await store.read(match_stream(MatchId(match)))
    await store.link.call("DEL", key)
    for entry in entries:
        text = body if entry.version == version else entry.body
        await store.link.call("XADD", key, f"{entry.version}-0", "e", text, "h", entry.hash)


@pytest.mark.parametrize("damage", ["byte", "gap", "seed"])
async def test_a_damaged_match_is_refused_by_version_and_others_go_on(site, store, damage):
    match, players = await played(site, 4)
    other, others = await played(site, 1)  # the worker's one place is now this match's
    entries = await store.read(match_stream(MatchId(match)))
    if damage == "byte":
        body = entries[2].body
        await replace(store, match, 3, body[:40] + bytes([body[40] ^ 1]) + body[41:])
    elif damage == "gap":
        await store.link.call("XDEL", stream_key(match_stream(MatchId(match))), "3-0")
    else:
        await store.link.call("SET", seed_key(MatchId(match)), bytes(32))
    with pytest.raises(Refused) as refused:
        await players[0].view(match)
    assert (refused.value.status, refused.value.reason) == (500, "HISTORY_CORRUPT")
    assert str(refused.value.problem["version"]) == ("1" if damage == "seed" else "3")
    view = await others[0].view(other)
    mover = others[view["to_act"][0]]
    page = await mover.legal_moves(other)
    receipt = await mover.move(other, page["choices"][0]["move"], page["version"])
    assert receipt["version"] == view["version"] + 1


async def test_a_removed_tail_is_found_by_comparing_with_the_read_models(site, store):
    match, _ = await played(site, 4)
    await played(site, 1)
    stream = match_stream(MatchId(match))
    for _ in range(100):
        listed = await site.ask("GET", "/v1/matches", page_size=100)
        head = next((each["version"] for each in listed["matches"] if each["match"] == match), 0)
        if head == 5:
            break
    assert await store.heads([stream]) == [head] == [5]
    await store.link.call("XDEL", stream_key(stream), "5-0")
    assert await store.heads([stream]) == [4]
    listed = await site.ask("GET", "/v1/matches", page_size=100)
    assert next(each["version"] for each in listed["matches"] if each["match"] == match) == 5


@pytest.mark.parametrize("module", ["services.rules", "services.lobby"])
@pytest.mark.parametrize("setting", [("appendonly", "no"), ("maxmemory-policy", "allkeys-lru")])
def test_nobody_who_stores_events_starts_on_a_redis_that_may_lose_them(tmp_path: Path, module, setting):
    with Valkey(tmp_path) as valkey:
        redis.Redis.from_url(valkey.url).config_set(*setting)
        env = {"REDIS_URL": valkey.url, "NATS_URL": "nats://127.0.0.1:1", "TITLE": "wayfare", "PORT": "0"}
        ended = subprocess.run(
            [sys.executable, "-m", module], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
        )
    assert ended.returncode == 1
    assert "Redis is not safe" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert json.dumps(setting[0])[1:-1] in ended.stdout + ended.stderr
