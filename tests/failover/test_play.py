"""The whole system on a replicated Redis and a NATS cluster: play goes on when either loses a server."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Iterator

import nats
import pytest

from deploy.local.servers import free_port
from deploy.local.system import System
from services.kit.bus_events import STREAM
from services.kit.redis_store import RedisStore
from tests.e2e.checking import check_history, check_lists, folded
from tests.e2e.conftest import UNLIMITED
from tests.e2e.playing import History, all_of, play_http, play_sockets
from tests.e2e.site import Player, Site, gathered
from tests.failover.servers import ClusterNats, NatsCluster, RedisGroup

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SEED = 20260301
TITLE = "make_way"
MATCHES = 16
MOVES = 60  # before, and as many after, a server is killed


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisGroup]:
    with RedisGroup(tmp_path_factory.mktemp("redis"), replicas=2) as group:
        yield group


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsCluster]:
    with NatsCluster(tmp_path_factory.mktemp("nats")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def system(redis: RedisGroup, bus: NatsCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Set up as docs/operations.md says for production."""
    running = System(
        data=tmp_path_factory.mktemp("system"),
        workers={TITLE: 2},
        ports=[free_port(), free_port()],
        redis_url=redis.url,
        nats_url=bus.url,
        env={**UNLIMITED, "REDIS_REPLICAS": "1", "NATS_REPLICAS": "3"},
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


class Play:
    """Matches played at once to their ends, half of them over sockets."""

    def __init__(self, site: Site, matches: list[tuple[str, list[Player]]]) -> None:
        self.site = site
        self.history = History()
        self.matches = [match for match, _ in matches]
        rng = random.Random(SEED)
        plays = (
            play_http(players, match, self.history, random.Random(rng.random()))
            if number % 2
            else play_sockets(players, match, site.urls[0], self.history, random.Random(rng.random()))
            for number, (match, players) in enumerate(matches)
        )
        self.playing = asyncio.create_task(all_of(plays, at_once=len(matches)))

    async def moves(self, number: int) -> None:
        """Returns when that many more moves have been acknowledged."""
        enough = len(self.history.acknowledged) + number
        async with asyncio.timeout(120):
            while len(self.history.acknowledged) < enough:
                assert not self.playing.done(), self.playing.exception() or "all matches are over"
                await asyncio.sleep(0.01)

    async def checked(self, store: RedisStore) -> str:
        """The matches are over, and what their players were told is what the streams and the lists say."""
        await self.playing
        moves = await check_history(store, self.history, self.matches)
        stored = sum([len(await folded(store, match)) - 1 for match in self.matches])
        await check_lists(store, self.site, self.matches)
        return f"{moves} of {stored} moves acknowledged, lost 0, {self.site.retried} requests repeated"


async def begun(site: Site) -> Play:
    matches = []
    for _ in range(MATCHES):
        players = await site.players(2)
        matches.append((await gathered(players, TITLE), players))
    return Play(site, matches)


async def test_play_goes_on_when_a_nats_server_dies_and_the_lists_catch_up(
    bus: NatsCluster, site: Site, store: RedisStore
) -> None:
    play = await begun(site)
    await play.moves(MOVES)
    leader = await stream_leader(bus)
    leader.kill()
    await play.moves(MOVES)
    print(f"{leader.data_dir.name} of three, leader of the stream, killed: {await play.checked(store)}")
    leader.start()


async def test_every_acknowledged_move_outlives_a_killed_primary_and_play_goes_on(
    redis: RedisGroup, site: Site, store: RedisStore
) -> None:
    play = await begun(site)
    await play.moves(MOVES)
    redis.primary.kill()
    killed_at = time.monotonic()
    await asyncio.to_thread(redis.promoted)
    await play.moves(1)
    seconds = time.monotonic() - killed_at
    await play.moves(MOVES)
    print(f"primary of three killed, play goes on after {seconds:.1f} s: {await play.checked(store)}")


async def stream_leader(bus: NatsCluster) -> ClusterNats:
    """The server that takes what is published. Asserts that all three keep it."""
    client = await nats.connect(bus.url.split(","))
    try:
        answer = await client.request(f"$JS.API.STREAM.INFO.{STREAM}", timeout=10)
    finally:
        await client.close()
    cluster = json.loads(answer.data)["cluster"]
    assert len(cluster["replicas"]) == 2
    return next(server for server in bus.servers if server.data_dir.name == cluster["leader"])
