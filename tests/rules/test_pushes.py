"""What waits to be pushed on a stream, and who is told of what happens."""

import asyncio
import random

import msgspec
import pytest
from waystation.rules.v1 import rules_pb2 as pb

from services.core.ids import MatchId
from services.rules import pushes as bounds
from services.rules.live import Live
from services.rules.pushes import Pushes
from tests.rules.hosting import started

pytestmark = pytest.mark.anyio


class Listening:
    def __init__(self) -> None:
        self.pushed: list[pb.Push] = []

    def push(self, push: bytes) -> None:
        self.pushed += read(push)

    def heard(self, match: MatchId) -> list[tuple[int | None, int]]:
        """(seat, version) of what was pushed of `match`."""
        of = [push for push in self.pushed if push.match == match]
        return [(p.seat if p.HasField("seat") else None, p.version) for p in of]


def read(*messages: bytes) -> list[pb.Push]:
    """The pushes in `messages`, one after the other as on a stream."""
    return list(pb.ExchangeResponse.FromString(b"".join(messages)).pushes)


def push(size: int, version: int = 1) -> bytes:
    each = pb.Push(version=version, happened=bytes(size))
    return pb.ExchangeResponse(pushes=[each]).SerializeToString()


async def waiting() -> Pushes:
    return Pushes(asyncio.Event())


async def test_pushes_go_out_in_order_in_messages_of_bounded_size():
    ready = asyncio.Event()
    pushes = Pushes(ready)
    for version in range(1, 6):
        pushes.add(push(bounds.MESSAGE_BYTES_MAX // 2 - 100, version))
    batches = []
    while pushes:
        assert ready.is_set()
        ready.clear()
        batches.append([each.version for each in read(*pushes.collect())])
    assert batches == [[1, 2], [3, 4], [5]]
    assert not ready.is_set()


@pytest.mark.parametrize(("size", "most"), [(0, bounds.WAITING_MAX), (500_000, 16)])
async def test_what_a_slow_gateway_does_not_read_is_dropped_beyond_the_bounds(size, most):
    pushes = await waiting()
    for version in range(1, most + 10):
        pushes.add(push(size, version))
    kept = []
    while pushes:
        kept += [each.version for each in read(*pushes.collect())]
    assert kept == list(range(1, most + 1))


async def test_a_push_too_large_for_a_message_is_dropped_and_those_behind_it_go_on():
    pushes = await waiting()
    pushes.add(push(bounds.MESSAGE_BYTES_MAX))
    pushes.add(push(1, version=2))
    assert [each.version for each in read(*pushes.collect())] == [2]


async def test_each_audience_that_is_followed_is_told_with_its_own_eyes_and_no_other(host, new_match):
    live, here, there = Live(), Listening(), Listening()
    match = await started(host, new_match(), 2)
    live.follow(match, 0, here)
    live.follow(match, None, here)
    live.follow(match, None, there)
    live.follow(match, 7, here)  # no such seat: nothing to see
    await host.plays(match, random.Random(1), moves=1)
    (news,) = host.told[-1:]
    live.push(news)
    assert sorted(here.heard(match), key=str) == [(0, 2), (None, 2)]
    assert there.heard(match) == [(None, 2)]
    told = {p.HasField("seat"): msgspec.json.decode(p.happened) for p in here.pushed}
    assert (told[True]["view"]["seat"], told[False]["view"]["seat"]) == (0, None)


async def test_who_no_longer_follows_is_told_nothing_and_leaves_nothing_behind(host, new_match):
    live, here, there = Live(), Listening(), Listening()
    match = await started(host, new_match(), 2)
    live.follow(match, None, here)
    live.follow(match, None, there)
    live.unfollow(match, None, here)
    live.unfollow(match, 0, here)  # never followed
    live.push(host.told[-1])
    assert here.pushed == []
    assert there.heard(match) == [(None, 1)]
    live.unfollow(match, None, there)
    assert len(live) == 0
