"""Which worker is asked, and which one is left alone for a while."""

from collections.abc import Collection, Sequence

import pytest
from waystation.rules.v1 import rules_pb2

from gateway import workers as workers_module
from gateway.exchange import StreamBroken
from gateway.places import Place
from gateway.pushes import Pushes
from gateway.workers import REST_S, Workers
from services.core.errors import Deadline, ServiceDown, TitleDown
from services.core.ids import MatchId, Slug
from services.kit.directory import Member

pytestmark = pytest.mark.anyio

PLACE = Place(MatchId("m"), Slug("wayfare"), private=False, seats={})


class Directory:
    """Picks the first address that is not to be avoided."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.addresses = addresses

    def pick(self, slug: str, match: str, version: int | None = None, avoid: Collection[str] = ()) -> str:
        for address in self.addresses:
            if address not in avoid:
                return address
        raise TitleDown(slug, "no live worker")

    def workers(self, slug: str) -> list[Member]:
        return [Member(kind="title", name=slug, address=address, started_ms=1) for address in self.addresses]


class Stream:
    """The exchange with one worker: answers, or fails with `fails`."""

    is_closed = is_draining = False

    def __init__(self, address: str, clock: "Clock") -> None:
        self.address = address
        self.heard_at = 0.0
        self.asked = 0
        self.fails: Exception | None = None
        self._clock = clock

    async def ask(self, call: rules_pb2.Call, limit_s: float) -> rules_pb2.Answer:
        self.asked += 1
        self._clock.now += 1
        if self.fails is not None:
            raise self.fails
        self.heard_at = self._clock.now
        return rules_pb2.Answer(get_match=rules_pb2.GetMatchResponse(view=self.address.encode()))


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(workers_module, "monotonic", clock)
    return clock


@pytest.fixture
def streams(clock: Clock) -> list[Stream]:
    return [Stream(address, clock) for address in ("first", "second", "third")]


@pytest.fixture
def workers(streams: list[Stream]) -> Workers:
    directory = Directory([stream.address for stream in streams])
    workers = Workers(directory, None, Pushes())  # type: ignore[arg-type]
    workers._exchanges = {stream.address: stream for stream in streams}  # type: ignore[misc]
    return workers


async def answerer(workers: Workers) -> str:
    """The address of the worker that answers."""
    return (await workers.ask(PLACE, rules_pb2.Call())).get_match.view.decode()


async def test_a_worker_that_says_nothing_until_the_deadline_rests(
    workers: Workers, streams: list[Stream], clock: Clock
) -> None:
    streams[0].fails = Deadline(1)
    with pytest.raises(Deadline):
        await workers.ask(PLACE, rules_pb2.Call())
    streams[0].fails = None
    assert await answerer(workers) == "second"
    clock.now += REST_S
    assert await answerer(workers) == "first"


async def test_a_worker_that_speaks_to_others_is_slow_and_does_not_rest(
    workers: Workers, streams: list[Stream], clock: Clock
) -> None:
    streams[0].fails, streams[0].heard_at = Deadline(1), clock.now + 1
    with pytest.raises(Deadline):
        await workers.ask(PLACE, rules_pb2.Call())
    streams[0].fails = None
    assert await answerer(workers) == "first"


async def test_a_call_on_a_broken_stream_goes_to_another_worker_and_so_do_the_next(
    workers: Workers, streams: list[Stream]
) -> None:
    streams[0].fails = StreamBroken("first")
    assert await answerer(workers) == "second"
    assert await answerer(workers) == "second"
    assert [stream.asked for stream in streams] == [1, 2, 0]


async def test_a_call_that_meets_broken_streams_alone_has_an_unknown_outcome(
    workers: Workers, streams: list[Stream]
) -> None:
    for stream in streams:
        stream.fails = StreamBroken(stream.address)
    with pytest.raises(ServiceDown):
        await workers.ask(PLACE, rules_pb2.Call())
    assert [stream.asked for stream in streams] == [1, 1, 0]


async def test_a_match_is_served_by_the_one_worker_that_has_its_rules_version(
    workers: Workers, streams: list[Stream]
) -> None:
    for stream in streams[:2]:
        stream.fails = TitleDown("wayfare", "no rules version 1 here")
    assert await answerer(workers) == "third"
    assert [stream.asked for stream in streams] == [1, 1, 1]


async def test_a_match_whose_rules_version_nobody_has_is_refused_once_all_were_asked(
    workers: Workers, streams: list[Stream]
) -> None:
    for stream in streams:
        stream.fails = TitleDown("wayfare", "no rules version 1 here")
    with pytest.raises(TitleDown, match="no rules version 1"):
        await workers.ask(PLACE, rules_pb2.Call())
    assert [stream.asked for stream in streams] == [1, 1, 1]


async def test_a_worker_that_drains_is_asked_only_when_there_is_no_other(
    workers: Workers, streams: list[Stream]
) -> None:
    streams[0].is_draining = True
    assert await answerer(workers) == "second"
    streams[1].is_draining = streams[2].is_draining = True
    assert await answerer(workers) == "first"
