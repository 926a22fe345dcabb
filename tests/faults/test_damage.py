"""A damaged history in a running system is named, and all others go on; a Redis nobody may trust."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest
import redis

from cli.rebuild import print_rebuilt
from cli.verify_store import print_store_verdict
from deploy.local.servers import Valkey
from deploy.local.system import ROOT, System
from services.core.events import Entry
from services.core.ids import MatchId, StreamName, match_stream, table_stream
from services.kit.redis_keys import seed_key, stream_key
from services.kit.redis_store import RedisStore
from tests.e2e.serving import serving
from tests.e2e.site import Player, Refused, Site
from tests.waiting import until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

Verify = Callable[[str | None], Awaitable[tuple[int, str]]]

NONCE = "a-nonce"
SOUND = "TRUE   {} streams: chains, digests and luck hold, and nobody knows of more\n"
TRIES_MAX = 240
PAUSE_S = 0.25


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """One worker that keeps a single match folded: every other one is read from its stream."""
    with serving(tmp_path_factory.mktemp("system"), {"wayfare": 1}, CACHED_MATCHES="1") as running:
        yield running


async def played(site: Site, moves: int) -> tuple[str, list[Player]]:
    """A match that has seen some moves, and its players."""
    players = await site.players(2)
    match = (await players[0].create("wayfare", seats=2, options={"size": 6}))["match"]
    await players[1].join(match, nonce=NONCE)
    for _ in range(TRIES_MAX):
        if (await players[0].view(match))["status"] == "running":
            break
        await asyncio.sleep(PAUSE_S)
    for _ in range(moves):
        await move(players, match)
    return match, players


async def move(players: list[Player], match: str) -> None:
    """The first legal move there is."""
    view = await players[0].view(match)
    mover = players[view["to_act"][0]]
    page = await mover.legal_moves(match)
    receipt = await mover.move(match, page["choices"][0]["move"], page["version"])
    assert receipt["version"] == view["version"] + 1


async def write_anew(store: RedisStore, stream: StreamName, entries: Sequence[Entry]) -> None:
    """Puts other entries in the stream's place; they are numbered as they come."""
    key = stream_key(stream)
    await store.link.call("DEL", key)
    for number, entry in enumerate(entries, 1):
        await store.link.call("XADD", key, f"{number}-0", "e", entry.body, "h", entry.hash)


def with_body(entries: list[Entry], version: int, body: bytes) -> list[Entry]:
    """The entries with another body at `version`, its hash left as it was."""
    changed = Entry(version, body, entries[version - 1].hash)
    return [*entries[: version - 1], changed, *entries[version:]]


def a_byte(entries: list[Entry]) -> list[Entry]:
    body = entries[2].body
    return with_body(entries, 3, body[:40] + bytes([body[40] ^ 1]) + body[41:])


def a_hash(entries: list[Entry]) -> list[Entry]:
    return [*entries[:2], Entry(3, entries[2].body, bytes(32)), *entries[3:]]


def one_removed(entries: list[Entry]) -> list[Entry]:
    return [*entries[:2], *entries[3:]]


def one_inserted(entries: list[Entry]) -> list[Entry]:
    return [*entries[:2], entries[1], *entries[2:]]


def two_swapped(entries: list[Entry]) -> list[Entry]:
    return [*entries[:2], entries[3], entries[2], *entries[4:]]


def another_nonce(entries: list[Entry]) -> list[Entry]:
    body = entries[0].body.replace(NONCE.encode(), b"other")
    assert body != entries[0].body
    return with_body(entries, 1, body)


# What is done to a match at version 5, and the version that is to be named.
DAMAGE = {a_byte: 3, a_hash: 3, one_removed: 3, one_inserted: 3, two_swapped: 3, another_nonce: 1}


@pytest.fixture
def verify(system: System, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verify:
    """`waystation verify --match`: the exit code and what it printed."""
    monkeypatch.setenv("REDIS_URL", system.redis_url)

    async def verified(match: str | None) -> tuple[int, str]:
        code = await print_store_verdict(match, data=None)
        return code, capsys.readouterr().out

    return verified


async def refused_as_corrupt(players: list[Player], match: str, version: int) -> None:
    with pytest.raises(Refused) as refused:
        await players[0].view(match)
    assert (refused.value.status, refused.value.reason) == (500, "HISTORY_CORRUPT")
    assert str(refused.value.problem["version"]) == str(version)


async def test_a_sound_store_is_found_to_be_sound(site, verify):
    match, _ = await played(site, 3)
    assert await verify(match) == (0, SOUND.format(2))
    code, said = await verify("nosuch")
    assert (code, said.startswith("no match nosuch")) == (1, True)


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_match_is_named_with_its_version_and_others_go_on(site, store, verify, damage):
    match, players = await played(site, 4)
    other, others = await played(site, 1)  # the worker's one place is now this match's
    stream = match_stream(MatchId(match))
    await write_anew(store, stream, damage(await store.read(stream)))
    await refused_as_corrupt(players, match, DAMAGE[damage])
    code, said = await verify(match)
    assert (code, said.startswith(f"FALSE  {stream} is damaged at version {DAMAGE[damage]}:")) == (1, True)
    await move(others, other)
    assert (await verify(other))[0] == 0


async def rewritten(store: RedisStore, stream: StreamName, version: int, id_: str, *fields: bytes) -> None:
    """The stream with another entry at `version`, written as `id_` and `fields` say."""
    entries, key = await store.read(stream), stream_key(stream)
    await store.link.call("DEL", key)
    for entry in entries:
        if entry.version == version:
            given = {b"BODY": entry.body, b"HASH": entry.hash}
            await store.link.call("XADD", key, id_, *[given.get(field, field) for field in fields])
        else:
            await store.link.call("XADD", key, f"{entry.version}-0", "e", entry.body, "h", entry.hash)


@pytest.mark.parametrize(
    ("id_", "fields"),
    [
        ("3-0", (b"d", b"BODY", b"h", b"HASH")),
        ("3-0", (b"h", b"HASH", b"e", b"BODY")),
        ("3-0", (b"e", b"BODY", b"h", b"HASH", b"more", b"")),
        ("3-0", (b"zz", b"")),
        ("3-7", (b"e", b"BODY", b"h", b"HASH")),
        ("3-12", (b"e", b"BODY", b"h", b"HASH")),
    ],
)
async def test_an_entry_of_another_form_is_named_with_its_version(site, store, verify, id_, fields):
    match, players = await played(site, 4)
    await played(site, 1)
    stream = match_stream(MatchId(match))
    await rewritten(store, stream, 3, id_, *fields)
    await refused_as_corrupt(players, match, 3)
    assert (await verify(match))[1].startswith(f"FALSE  {stream} is damaged at version 3:")


async def test_a_key_that_holds_no_stream_is_damage_and_no_outage(site, store, verify):
    match, players = await played(site, 2)
    await played(site, 1)
    stream = match_stream(MatchId(match))
    await store.link.call("SET", stream_key(stream), "nothing of ours")
    await refused_as_corrupt(players, match, 1)
    code, said = await verify(match)
    assert (code, said) == (1, f"FALSE  {stream} is damaged at version 1: its key holds no stream\n")


async def test_a_stream_that_is_gone_is_named_when_its_match_is_asked_for(site, store, verify):
    match, _ = await played(site, 2)
    stream = match_stream(MatchId(match))
    await store.link.call("DEL", stream_key(stream))
    code, said = await verify(match)
    assert (code, said) == (1, f"FALSE  {stream} is damaged at version 1: the stream is empty\n")


async def test_damage_that_is_met_in_a_match_at_hand_is_named_and_the_match_is_not_played_on(site, store):
    match, players = await played(site, 4)
    await move(players, match)  # so that it is the one that the worker keeps
    await store.link.call("XDEL", stream_key(match_stream(MatchId(match))), "3-0")
    with pytest.raises(Refused) as refused:
        await players[0].ask("GET", f"/v1/matches/{match}/events")
    assert (refused.value.status, refused.value.reason) == (500, "HISTORY_CORRUPT")
    assert str(refused.value.problem["version"]) == "3"
    await refused_as_corrupt(players, match, 3)


async def test_another_seed_is_named_with_version_one(site, store, verify):
    match, players = await played(site, 4)
    await played(site, 1)
    await store.link.call("SET", seed_key(MatchId(match)), bytes(32))
    await refused_as_corrupt(players, match, 1)
    assert (await verify(match))[1].startswith(f"FALSE  match/{match} is damaged at version 1:")


async def test_a_damaged_table_is_named_with_its_version_and_others_are_played_at(
    system, site, store, verify
):
    host, guest = await site.players(2)
    tables = [(await host.create("wayfare", seats=2))["match"] for _ in range(2)]
    stream = table_stream(MatchId(tables[0]))
    (entry,) = await store.read(stream)
    await write_anew(store, stream, [Entry(1, entry.body.replace(b"wayfare", b"wayfarE"), entry.hash)])
    lobby = system.services["lobby-1"]  # it has the table at hand until it goes
    lobby.kill()
    lobby.start()
    with pytest.raises(Refused) as refused:
        await guest.join(tables[0])
    assert (refused.value.status, refused.value.reason) == (500, "HISTORY_CORRUPT")
    assert (await verify(tables[0]))[1].startswith(f"FALSE  {stream} is damaged at version 1:")
    await guest.join(tables[1])


async def listed(site: Site) -> dict[str, int]:
    """The version of every match in the public lists."""
    page = await site.ask("GET", "/v1/matches", page_size=100)
    return {each["match"]: each["version"] for each in page["matches"]}


async def until_listed(site: Site, match: str, version: int) -> None:
    """Waits until the read models have heard of the match's version."""

    async def is_listed() -> bool:
        return (await listed(site)).get(match) == version

    await until(is_listed, f"{match} is listed at {version}")


async def test_a_rebuild_leaves_damaged_streams_out_names_them_and_finds_all_others(
    system, site, store, monkeypatch, capsys
):
    monkeypatch.setenv("REDIS_URL", system.redis_url)
    bad, _ = await played(site, 4)
    sound, _ = await played(site, 1)  # the worker's one place is now this match's
    host, _ = await site.players(2)
    table = (await host.create("wayfare", seats=2))["match"]
    await until_listed(site, bad, 5)  # so that no event of it is still under way to the new lists
    stream = match_stream(MatchId(bad))
    await write_anew(store, stream, a_byte(await store.read(stream)))
    await store.link.call("DEL", stream_key(table_stream(MatchId(table))))
    code = await print_rebuilt(None)
    said = capsys.readouterr().out.splitlines()
    # The lobby may be starting again.
    rebuilt, *left_out = [line for line in said if line not in ("waiting for the lobby", "going on")]
    assert (code, rebuilt.partition(":")[0]) == (1, "rebuilt")
    assert [line.partition(":")[0] for line in left_out] == ["left out"] * len(left_out)
    assert any(line.startswith(f"left out: {stream} is damaged at version 3:") for line in left_out)
    assert f"left out: table/{table} is damaged at version 1: the stream is empty" in left_out
    found = await listed(site)
    assert (found.get(sound), bad in found) == (2, False)


async def test_a_removed_tail_is_found_by_what_the_read_models_have_heard(site, store, verify):
    match, _ = await played(site, 4)
    stream = match_stream(MatchId(match))
    await until_listed(site, match, 5)
    await store.link.call("XDEL", stream_key(stream), "4-0", "5-0")
    code, said = await verify(match)
    assert (code, said.startswith(f"FALSE  {stream} is damaged at version 4: missing")) == (1, True)


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
