"""Feeds on a real store: what is pushed, what is lost on the way, and when nobody listens."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from msgspec import Raw
from waystation.rules.v1 import rules_pb2

from gateway.live import hub as hub_module
from gateway.live.follower import MatchFollower
from gateway.live.frames import Frame
from gateway.live.hub import Hub
from gateway.pushes import Audience, Pushes
from services.core.events import Event, genesis, seal
from services.core.ids import MatchId, Slug, match_stream
from services.kit.redis_store import RedisStore
from services.kit.store import Append
from tests.gateway.scripted import Scripted, push
from tests.waiting import until

pytestmark = pytest.mark.anyio

TITLE = Slug("hub_test")
EYES = rules_pb2.Reader()


@pytest.fixture(autouse=True)
def _quick_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "HEADS_S", 0.1)


@pytest.fixture
async def store(valkey_url: str) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(valkey_url)
    yield store
    await store.close()


class Worker:
    """Stores versions of one match, and pushes what it is told to."""

    is_closed = False

    def __init__(self, store: RedisStore, match: MatchId) -> None:
        self.match = match
        self.pushes = Pushes()
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
                owner=TITLE,
                at=1,
            )
        )
        self._hash = entry.hash
        self.matches.head = version
        if is_pushed:
            self.push(version)

    def push(self, version: int, seat: int | None = None) -> None:
        _, happened = push(self.match, version)
        self.pushes.heed(rules_pb2.Push(match=self.match, seat=seat, version=version, happened=happened))

    def follow(self, audiences: Iterable[Audience]) -> None:
        pass

    def unfollow(self, audience: Audience) -> None:
        pass


@pytest.fixture
async def worker(store: RedisStore, new_match: Callable[[], MatchId]) -> Worker:
    """With version 1 stored."""
    worker = Worker(store, new_match())
    await worker.make(1, is_pushed=False)
    return worker


def opened(store: RedisStore, worker: Worker) -> AbstractAsyncContextManager[Hub]:
    return Hub.opened(store, worker.matches, worker.pushes)


@asynccontextmanager
async def following(hub: Hub, match: MatchId, got: list[int]) -> AsyncIterator[MatchFollower]:
    """A spectator of `match`; `got`: the versions it is brought to."""

    def deliver(frame: Frame) -> None:
        got.append(frame.version)

    audience = Audience(TITLE, match, None)
    follower = hub.join(audience, EYES, lambda feed: MatchFollower(feed, deliver))
    await follower.begin(None)
    yield follower
    follower.end()
    hub.leave(audience, follower)


async def test_only_the_last_push_is_lost_and_the_heads_make_up_for_it(
    store: RedisStore, worker: Worker
) -> None:
    got: list[int] = []
    async with opened(store, worker) as hub, following(hub, worker.match, got):
        await worker.make(2)
        await worker.make(3)
        await until(lambda: got[-1] == 3)
        await worker.make(4, is_pushed=False)
        await until(lambda: got[-1] == 4)
        await worker.make(5)
        await until(lambda: got[-1] == 5)
    assert got == sorted(set(got))  # a look at the heads may overtake a push: a view skips it then


async def test_a_worker_that_connects_has_what_it_stored_before_looked_for(
    store: RedisStore, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "HEADS_S", 60.0)
    got: list[int] = []
    async with opened(store, worker) as hub, following(hub, worker.match, got):
        await worker.make(2, is_pushed=False)
        worker.pushes.join(TITLE, worker)
        await until(lambda: got == [1, 2])


async def test_a_feed_ends_with_its_last_follower(store: RedisStore, worker: Worker) -> None:
    got: list[int] = []
    async with opened(store, worker) as hub:
        async with following(hub, worker.match, got), following(hub, worker.match, got):
            assert hub.feeds == 1
            await worker.make(2)
            await until(lambda: got == [1, 1, 2, 2])
        assert hub.feeds == 0
        await worker.make(3)
        async with following(hub, worker.match, got):
            assert got == [1, 1, 2, 2, 3]


async def test_what_one_audience_is_pushed_does_not_reach_another(store: RedisStore, worker: Worker) -> None:
    got: list[int] = []
    async with opened(store, worker) as hub, following(hub, worker.match, got):
        worker.push(7, seat=0)
        await worker.make(2)
        await until(lambda: got == [1, 2])
        assert worker.matches.reads == 1
