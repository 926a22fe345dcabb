"""The order of what a client gets, whatever order it arrives in."""

import asyncio
import random

import msgspec
import pytest
from waystation.rules.v1 import rules_pb2

from gateway.live import follower as follower_module
from gateway.live.feed import Feed
from gateway.live.follower import HELD_MAX, MISSED_MAX, MatchFollower
from gateway.live.frames import Frame
from services.core.ids import MatchId
from tests.gateway.scripted import Scripted, push

pytestmark = pytest.mark.anyio

MATCH = MatchId("m")


class Client:
    """Keeps what it is sent: (kind, version)."""

    def __init__(self, matches: Scripted) -> None:
        self.feed = Feed(MATCH, rules_pb2.Reader(), matches)
        self.got: list[tuple[str, int]] = []
        self.bodies: list[bytes] = []
        self.follower = MatchFollower(self.feed, self._deliver)
        self.feed.followers.add(self.follower)

    def _deliver(self, frame: Frame) -> None:
        self.got.append((frame.kind, frame.version))
        self.bodies.append(frame.body)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_client_begins_with_the_view_and_goes_on_with_events() -> None:
    client = Client(Scripted(3))
    await client.follower.begin(None)
    for version in (4, 5):
        client.feed.push(*push(MATCH, version))
    assert client.got == [("view", 3), ("event", 4), ("event", 5)]


async def test_what_is_pushed_while_the_view_is_read_comes_after_it_and_only_once() -> None:
    matches = Scripted(3)
    matches.open.clear()
    client = Client(matches)
    beginning = asyncio.create_task(client.follower.begin(None))
    await settle()
    for version in (3, 4, 5):
        client.feed.push(*push(MATCH, version))
    matches.head = 5
    matches.open.set()
    await beginning
    await settle()
    assert client.got == [("view", 5)]
    client.feed.push(*push(MATCH, 6))
    assert client.got[-1] == ("event", 6)


async def test_a_client_that_comes_back_gets_what_it_missed_and_the_view_with_the_last() -> None:
    client = Client(Scripted(5))
    await client.follower.begin(2)
    assert client.got == [("event", 3), ("event", 4), ("event", 5)]
    assert ["view" in msgspec.json.decode(body) for body in client.bodies] == [False, False, True]


async def test_a_client_that_missed_nothing_hears_the_head() -> None:
    client = Client(Scripted(5))
    await client.follower.begin(5)
    assert msgspec.json.decode(client.bodies[0]) == {"type": "head", "heads": {MATCH: 5}}
    client.feed.push(*push(MATCH, 6))
    assert client.got[1:] == [("event", 6)]


@pytest.mark.parametrize("after", [9, 5 + MISSED_MAX])
async def test_a_client_from_the_future_gets_the_view(after: int) -> None:
    client = Client(Scripted(5))
    await client.follower.begin(after)
    assert client.got == [("view", 5)]


async def test_a_client_that_missed_too_much_gets_the_view() -> None:
    client = Client(Scripted(MISSED_MAX + 2))
    await client.follower.begin(1)
    assert client.got == [("view", MISSED_MAX + 2)]


async def test_a_client_whose_missed_events_are_too_large_together_gets_the_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events = msgspec.json.decode(await Scripted(5).events(MATCH, rules_pb2.Reader(), 3, 5))["events"]
    size = sum(len(msgspec.json.encode(event)) for event in events)
    for most, got in ((size, [("event", 3), ("event", 4), ("event", 5)]), (size - 1, [("view", 5)])):
        monkeypatch.setattr(follower_module, "MISSED_BYTES_MAX", most)
        client = Client(Scripted(5))
        await client.follower.begin(2)
        assert client.got == got


async def test_of_what_is_pushed_while_a_view_is_read_the_newest_is_kept_up_to_a_bound() -> None:
    matches = Scripted(3)
    matches.open.clear()
    client = Client(matches)
    beginning = asyncio.create_task(client.follower.begin(None))
    await settle()
    newest = 3 + HELD_MAX + 5
    for version in range(4, newest + 1):
        client.feed.push(*push(MATCH, version))
    assert list(client.follower._held) == list(range(newest + 1 - HELD_MAX, newest + 1))
    matches.head = newest
    matches.open.set()
    await beginning
    await settle()
    assert client.got == [("view", newest)]
    assert not client.follower._held


async def test_a_gap_is_filled_by_a_view() -> None:
    matches = Scripted(3)
    client = Client(matches)
    await client.follower.begin(None)
    matches.head = 6
    client.feed.push(*push(MATCH, 6))
    await settle()
    assert client.got == [("view", 3), ("view", 6)]


async def test_a_lost_last_push_is_noticed_by_the_head() -> None:
    matches = Scripted(3)
    client = Client(matches)
    await client.follower.begin(None)
    matches.head = 4
    client.feed.told(4)
    await settle()
    assert client.got == [("view", 3), ("view", 4)]


async def test_a_failed_catching_up_is_tried_again_with_the_next_heads() -> None:
    matches = Scripted(3)
    client = Client(matches)
    await client.follower.begin(None)
    matches.head, matches.fails = 4, 1
    client.feed.told(4)
    await settle()
    assert client.got == [("view", 3)]
    client.feed.told(4)
    await settle()
    assert client.got[-1] == ("view", 4)


async def test_a_store_that_lost_its_tail_makes_the_client_start_over() -> None:
    matches = Scripted(5)
    client = Client(matches)
    await client.follower.begin(None)
    client.feed.told(5)
    matches.head = 4
    client.feed.told(4)
    client.feed.told(4)
    await settle()
    assert client.got == [("view", 5), ("view", 4)]


async def test_a_head_that_was_read_before_a_push_is_no_lost_tail() -> None:
    matches = Scripted(5)
    client = Client(matches)
    await client.follower.begin(None)
    client.feed.told(5)
    matches.head = 6
    client.feed.push(*push(MATCH, 6))
    client.feed.told(5)
    await settle()
    assert client.got == [("view", 5), ("event", 6)]


async def test_clients_that_miss_the_same_share_one_read() -> None:
    matches = Scripted(3)
    first = Client(matches)
    others = [MatchFollower(first.feed, lambda frame: None) for _ in range(50)]
    first.feed.followers.update(others)
    for follower in (first.follower, *others):
        await follower.begin(None)
    matches.reads, matches.head = 0, 9
    first.feed.push(*push(MATCH, 9))
    await settle()
    assert {follower.version for follower in others} == {9}
    assert matches.reads == 1


@pytest.mark.parametrize("seed", range(30))
async def test_versions_go_up_by_one_or_a_view_fills_the_gap(seed: int) -> None:
    """Pushes are lost, doubled and swapped at random, reads take their time; the client ends at the head."""
    luck = random.Random(seed)
    matches = Scripted(1)
    client = Client(matches)
    await client.follower.begin(None)
    late: list[int] = []
    for version in range(2, 60):
        matches.head = version
        (matches.open.set, matches.open.clear)[luck.random() < 0.4]()
        late += [version] * luck.choice((0, 1, 1, 1, 2))
        luck.shuffle(late)
        for _ in range(luck.randrange(3)):
            if late:
                client.feed.push(*push(MATCH, late.pop()))
        if luck.random() < 0.5:
            await settle()
    matches.open.set()
    client.feed.told(matches.head)
    await settle()
    versions = [version for _, version in client.got]
    assert versions == sorted(set(versions))
    assert versions[-1] == 59
    for (_, before), (kind, version) in zip(client.got, client.got[1:], strict=False):
        assert kind == "view" or version == before + 1


async def test_a_follow_that_ends_while_it_begins_delivers_nothing() -> None:
    matches = Scripted(3)
    matches.open.clear()
    client = Client(matches)
    beginning = asyncio.create_task(client.follower.begin(None))
    await settle()
    client.follower.end()
    matches.open.set()
    await beginning
    client.feed.push(*push(MATCH, 4))
    client.feed.told(5)
    await settle()
    assert client.got == []
