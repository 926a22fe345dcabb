"""Feeds on a real NATS and a real store: what is pushed, what is lost on the way, and when nobody listens."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import pytest
from msgspec import Raw
from nats.aio.client import Client
from waystation.rules.v1 import rules_pb2

from deploy.local.servers import Nats
from gateway.live import hub as hub_module
from gateway.live.follower import MatchFollower
from gateway.live.frames import Frame
from gateway.live.hub import Hub, subject
from services.core.events import Event, genesis, seal
from services.core.ids import MatchId, match_stream
from services.kit.redis_store import RedisStore
from services.kit.store import Append
from tests.gateway.scripted import Scripted, push

pytestmark = pytest.mark.anyio

EYES = rules_pb2.Reader()
PATIENCE_S = 10.0


@pytest.fixture(autouse=True)
def _quick_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "HEADS_S", 0.1)
    monkeypatch.setattr(hub_module, "HEADS_S_WITHOUT_NATS", 0.1)


@pytest.fixture
async def store(valkey_url: str) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(valkey_url)
    yield store
    await store.close()


class Worker:
    """Stores versions of one match, and pushes what it is told to."""

    def __init__(self, store: RedisStore, client: Client, match: MatchId) -> None:
        self.match = match
        self.client = client
        self.matches = Scripted(0)
        self._store = store
        self._hash = genesis(match_stream(match))

    async def make(self, version: int, is_pushed: bool = True) -> None:
        entry = seal(Event(type="move_made", version=version, at=1, by=0, data=Raw(b"{}")), self._hash)
        await self._store.append(
            Append(
                stream=match_stream(self.match),
                entry=entry,
                expected_version=version - 1,
                expected_hash=self._hash,
                owner="hub_test",
                at=1,
            )
        )
        self._hash = entry.hash
        self.matches.head = version
        if is_pushed:
            await self.push(version)

    async def push(self, version: int, seat: int | None = None) -> None:
        await self.client.publish(subject((self.match, seat)), push(self.match, version))
        await self.client.flush()


@pytest.fixture
async def worker(store: RedisStore, nats_url: str, new_match: Callable[[], MatchId]) -> AsyncIterator[Worker]:
    """With version 1 stored."""
    client = await nats.connect(nats_url)
    worker = Worker(store, client, new_match())
    await worker.make(1, is_pushed=False)
    yield worker
    await client.close()


@asynccontextmanager
async def following(hub: Hub, match: MatchId, got: list[int]) -> AsyncIterator[MatchFollower]:
    """A spectator of `match`; `got`: the versions it is brought to."""

    def deliver(frame: Frame) -> None:
        got.append(frame.version)

    audience = (match, None)
    follower = await hub.join(audience, EYES, lambda feed: MatchFollower(feed, deliver))
    await follower.begin(None)
    yield follower
    follower.end()
    await hub.leave(audience, follower)


async def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        await asyncio.sleep(0.01)


async def test_only_the_last_push_is_lost_and_the_heads_make_up_for_it(
    store: RedisStore, nats_url: str, worker: Worker
) -> None:
    got: list[int] = []
    async with Hub.opened(nats_url, store, worker.matches) as hub, following(hub, worker.match, got):
        await worker.make(2)
        await worker.make(3)
        await until(lambda: got[-1] == 3)
        await worker.make(4, is_pushed=False)
        await until(lambda: got[-1] == 4)
        await worker.make(5)
        await until(lambda: got[-1] == 5)
    assert got == sorted(set(got))  # a look at the heads may overtake a push: a view skips it then


async def test_a_follow_works_before_nats_does_and_is_pushed_to_once_it_does(
    store: RedisStore, tmp_path: Path, worker: Worker
) -> None:
    got: list[int] = []
    server = Nats(tmp_path / "nats")
    server.start()
    server.kill()
    async with Hub.opened(server.url, store, worker.matches) as hub, following(hub, worker.match, got):
        await worker.make(2, is_pushed=False)
        await until(lambda: got == [1, 2])
        server.restart()
        await until(lambda: hub.is_pushed_to)
        worker.client = await nats.connect(server.url)
        reads = worker.matches.reads
        await worker.make(3)
        await until(lambda: got == [1, 2, 3])
        assert worker.matches.reads == reads
        await worker.client.close()
    server.stop()


async def test_a_feed_ends_with_its_last_follower(store: RedisStore, nats_url: str, worker: Worker) -> None:
    got: list[int] = []
    async with Hub.opened(nats_url, store, worker.matches) as hub:
        async with following(hub, worker.match, got), following(hub, worker.match, got):
            assert hub.feeds == 1
            await worker.make(2)
            await until(lambda: got == [1, 1, 2, 2])
        assert hub.feeds == 0
        await worker.make(3)
        async with following(hub, worker.match, got):
            assert got == [1, 1, 2, 2, 3]


async def test_what_one_audience_is_pushed_does_not_reach_another(
    store: RedisStore, nats_url: str, worker: Worker
) -> None:
    got: list[int] = []
    async with Hub.opened(nats_url, store, worker.matches) as hub, following(hub, worker.match, got):
        await worker.push(7, seat=0)
        await worker.make(2)
        await until(lambda: got == [1, 2])
        assert worker.matches.reads == 1


async def test_a_push_that_makes_no_sense_harms_nobody(
    store: RedisStore, nats_url: str, worker: Worker
) -> None:
    got: list[int] = []
    async with Hub.opened(nats_url, store, worker.matches) as hub, following(hub, worker.match, got):
        for payload in (b"", b"nonsense", b"[]", b'{"version":"x"}'):
            await worker.client.publish(subject((worker.match, None)), payload)
        await worker.make(2)
        await until(lambda: got == [1, 2])
