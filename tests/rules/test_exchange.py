"""The stream's own laws, with methods whose behaviour a test chooses, over a real gRPC connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1.rules_pb2_grpc import (
    RulesServiceServicer,
    RulesServiceStub,
    add_RulesServiceServicer_to_server,
)

from services.core.errors import NoSuchMatch
from services.kit.rpc_server import UnaryCalls
from services.rules import calls, exchange
from services.rules.exchange import Exchange
from services.rules.live import Live
from tests.rules.hosting import started
from tests.waiting import until

pytestmark = pytest.mark.anyio


class Methods:
    """GetMatch answers with the id of the match; for some ids it waits, refuses or breaks."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.finished: list[str] = []
        self.live = Live()
        self.exchange = Exchange({"get_match": self.get_match}, self.live)

    async def get_match(self, request: pb.GetMatchRequest) -> pb.GetMatchResponse:
        match request.match:
            case "slow":
                await self.gate.wait()
            case "absent":
                raise NoSuchMatch("absent")
            case "broken":
                raise ZeroDivisionError
            case "huge":
                return pb.GetMatchResponse(view=bytes(calls.ANSWER_BYTES_MAX + 1))
            case "large":
                return pb.GetMatchResponse(view=bytes(calls.MESSAGE_BYTES_MAX // 2))
        self.finished.append(request.match)
        return pb.GetMatchResponse(view=request.match.encode())


class Servicer(RulesServiceServicer):
    def __init__(self, methods: Methods) -> None:
        self._methods = methods

    async def Exchange(self, request_iterator: Any, context: Any) -> None:  # noqa: N802
        await self._methods.exchange.serve(context)


Servicer.__abstractmethods__ = frozenset()


class Caller:
    """One stream's client side."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def asks(self, *asked: pb.Call) -> None:
        await self.call.write(pb.ExchangeRequest(calls=asked))

    async def reads(self) -> pb.ExchangeResponse | None:
        """None once the worker has ended the stream."""
        message = await asyncio.wait_for(self.call.read(), 5)
        return None if message is grpc.aio.EOF else message

    async def answers(self, count: int) -> list[pb.Answer]:
        """The next `count` answers."""
        answers: list[pb.Answer] = []
        while len(answers) < count:
            message = await self.reads()
            assert message is not None, "the stream ended early"
            answers += message.answers
        assert len(answers) == count
        return answers


def call(id: int, match: str, timeout_s: float | None = None) -> pb.Call:
    timeout = None
    if timeout_s is not None:
        timeout = Duration()
        timeout.FromNanoseconds(round(timeout_s * 1e9))
    return pb.Call(id=id, timeout=timeout, get_match=pb.GetMatchRequest(match=match))


@pytest.fixture
async def methods() -> Methods:
    return Methods()


@pytest.fixture
async def connect(methods):
    """Opens streams to a worker with `methods`."""
    server = grpc.aio.server(interceptors=[UnaryCalls("rules")])
    add_RulesServiceServicer_to_server(Servicer(methods), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    yield lambda: Caller(RulesServiceStub(channel).Exchange())
    methods.gate.set()
    await channel.close()
    await server.stop(0)


async def test_a_slow_call_delays_no_other(methods, connect):
    caller = connect()
    await caller.asks(call(1, "slow"), call(2, "b"))
    await caller.asks(call(3, "c"))
    assert [answer.id for answer in await caller.answers(2)] == [2, 3]
    methods.gate.set()
    (late,) = await caller.answers(1)
    assert (late.id, late.get_match.view) == (1, b"slow")


async def test_answers_that_are_ready_together_travel_together(connect):
    caller = connect()
    await caller.asks(*(call(id, "m") for id in range(50)))
    message = await caller.reads()
    assert [answer.id for answer in message.answers] == list(range(50))


async def test_a_call_that_takes_too_long_is_answered_once_and_goes_on(methods, connect):
    caller = connect()
    await caller.asks(call(1, "slow", timeout_s=0.05))
    (answer,) = await caller.answers(1)
    assert answer.refusal.reason == "DEADLINE"
    assert dict(answer.refusal.facts) == {"limit_ms": "50"}
    methods.gate.set()
    await caller.asks(call(2, "b"))
    assert [answer.id for answer in await caller.answers(1)] == [2]
    assert methods.finished == ["slow", "b"]


async def test_a_call_whose_time_is_over_is_not_begun(methods, connect):
    caller = connect()
    await caller.asks(call(1, "a", timeout_s=0))
    (answer,) = await caller.answers(1)
    assert answer.refusal.reason == "DEADLINE"
    assert methods.finished == []


async def test_a_refusal_travels_with_reason_sentence_and_facts(connect):
    caller = connect()
    await caller.asks(call(1, "absent"))
    (answer,) = await caller.answers(1)
    refusal = answer.refusal
    assert (refusal.reason, refusal.detail) == ("NO_SUCH_MATCH", "no match absent")
    assert dict(refusal.facts) == {"match": "absent"}


async def test_a_fault_of_ours_is_a_bug_and_the_stream_goes_on(connect):
    caller = connect()
    await caller.asks(call(1, "broken"), call(2, "b"))
    broken, fine = await caller.answers(2)
    assert (broken.refusal.reason, fine.get_match.view) == ("BUG", b"b")
    assert "ZeroDivision" not in broken.refusal.detail


async def test_a_call_that_asks_nothing_is_refused(connect):
    caller = connect()
    await caller.asks(pb.Call(id=1))
    (answer,) = await caller.answers(1)
    assert answer.refusal.reason == "BAD_REQUEST"


async def test_calls_beyond_the_bound_are_refused_at_once(methods, connect, monkeypatch):
    monkeypatch.setattr(calls, "OPEN_MAX", 3)
    caller = connect()
    await caller.asks(*(call(id, "slow") for id in range(5)))
    refused = await caller.answers(2)
    assert [(answer.id, answer.refusal.reason) for answer in refused] == [
        (3, "OVERLOADED"),
        (4, "OVERLOADED"),
    ]
    assert refused[0].refusal.facts["retry_after_s"] == "1"
    methods.gate.set()
    assert {answer.id for answer in await caller.answers(3)} == {0, 1, 2}
    await caller.asks(call(9, "b"))
    assert [answer.get_match.view for answer in await caller.answers(1)] == [b"b"]


async def test_bytes_beyond_the_bound_are_refused_at_once(methods, connect, monkeypatch):
    monkeypatch.setattr(calls, "BYTES_MAX", 100)
    caller = connect()
    await caller.asks(call(1, "slow"), call(2, "m" * 100))
    (answer,) = await caller.answers(1)
    assert (answer.id, answer.refusal.reason) == (2, "OVERLOADED")


async def test_calls_that_took_too_long_leave_room_when_they_end(methods, connect, monkeypatch):
    monkeypatch.setattr(calls, "BYTES_MAX", 40)
    caller = connect()
    await caller.asks(call(1, "slow", timeout_s=0.05), call(2, "slow", timeout_s=0.05))
    assert {answer.refusal.reason for answer in await caller.answers(2)} == {"DEADLINE"}
    await caller.asks(call(3, "m" * 30))
    assert [answer.refusal.reason for answer in await caller.answers(1)] == ["OVERLOADED"]
    methods.gate.set()
    await caller.asks(call(4, "b"))
    assert [answer.get_match.view for answer in await caller.answers(1)] == [b"b"]


async def test_large_answers_travel_in_several_messages(connect):
    caller = connect()
    await caller.asks(*(call(id, "large") for id in range(8)))
    messages = [await caller.reads() for _ in range(8)]
    assert [answer.id for message in messages for answer in message.answers] == list(range(8))


async def test_an_answer_that_fits_no_message_is_refused(connect):
    caller = connect()
    await caller.asks(call(1, "huge"), call(2, "b"))
    huge, fine = await caller.answers(2)
    assert (huge.refusal.reason, fine.get_match.view) == ("TOO_LARGE", b"b")


async def test_a_caller_that_reads_nothing_is_not_listened_to_for_ever(methods, connect, monkeypatch):
    monkeypatch.setattr(calls, "OPEN_MAX", 8)
    caller = connect()

    async def flood() -> None:
        for id in range(100_000):
            await caller.asks(call(id, "large"))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(flood(), 2)
    assert len(methods.finished) < 1_000


async def test_a_caller_that_half_closes_gets_its_open_answers(methods, connect):
    caller = connect()
    await caller.asks(call(1, "slow"))
    await caller.call.done_writing()
    methods.gate.set()
    assert [answer.id for answer in await caller.answers(1)] == [1]
    assert await caller.reads() is None
    assert await caller.call.code() is grpc.StatusCode.OK


async def test_a_worker_that_drains_says_so_answers_open_calls_and_ends_the_stream(methods, connect):
    caller = connect()
    await caller.asks(call(1, "slow"), call(2, "b"))
    await caller.answers(1)
    async with _draining(methods):
        assert (await caller.reads()).draining
        await caller.asks(call(3, "late"))
        (late,) = await caller.answers(1)
        assert late.get_match.view == b"late"
        methods.gate.set()
        (slow,) = await caller.answers(1)
        assert slow.get_match.view == b"slow"
        assert await caller.reads() is None
        assert await caller.call.code() is grpc.StatusCode.OK


async def test_a_stream_that_comes_while_the_worker_drains_is_told_at_once(methods, connect):
    caller = connect()
    await caller.asks(call(1, "slow"))
    async with _draining(methods):
        await caller.reads()
        latecomer = connect()
        assert (await latecomer.reads()).draining
        methods.gate.set()


async def test_draining_does_not_wait_for_a_call_without_end(methods, connect):
    caller = connect()
    await caller.asks(call(1, "slow"))
    await asyncio.wait_for(methods.exchange.drain(0.1), 5)


async def test_what_was_begun_is_finished_though_the_caller_is_gone(methods, connect):
    caller = connect()
    asked = [call(1, "slow"), call(2, "b")]
    await caller.call.write(pb.ExchangeRequest(follow=[pb.Audience(match="m")], calls=asked))
    await caller.answers(1)
    caller.call.cancel()
    await until(lambda: not len(methods.live), "the worker knows that the caller is gone")
    methods.gate.set()
    await until(lambda: methods.finished == ["b", "slow"])


@asynccontextmanager
async def _draining(methods: Methods) -> AsyncIterator[None]:
    drain = asyncio.create_task(methods.exchange.drain(5))
    yield
    await drain


def pushed_to(push: pb.Push) -> pb.Audience:
    return pb.Audience(match=push.match, seat=push.seat if push.HasField("seat") else None)


async def test_a_stream_is_pushed_what_it_follows_before_its_calls_are_carried_out(
    methods, connect, host, new_match
):
    match = await started(host, new_match(), 2)
    caller = connect()
    followed = [pb.Audience(match=match), pb.Audience(match=match, seat=1)]
    await caller.call.write(pb.ExchangeRequest(follow=followed, calls=[call(1, "a")]))
    await caller.answers(1)
    methods.live.push(host.told[-1])
    assert [pushed_to(push) for push in (await caller.reads()).pushes] == followed
    await caller.call.write(pb.ExchangeRequest(unfollow=followed[:1], calls=[call(2, "b")]))
    await caller.answers(1)
    methods.live.push(host.told[-1])
    assert [pushed_to(push) for push in (await caller.reads()).pushes] == followed[1:]


async def test_nothing_is_followed_any_more_once_the_stream_has_ended(methods, connect):
    caller = connect()
    await caller.call.write(pb.ExchangeRequest(follow=[pb.Audience(match="m")], calls=[call(1, "a")]))
    await caller.answers(1)
    assert len(methods.live) == 1
    await caller.call.done_writing()
    assert await caller.reads() is None
    assert len(methods.live) == 0


async def test_a_stream_follows_no_more_than_its_bound(methods, connect, monkeypatch):
    monkeypatch.setattr(exchange, "FOLLOWED_MAX", 3)
    caller = connect()
    many = [pb.Audience(match=f"m{number}") for number in range(5)]
    await caller.call.write(pb.ExchangeRequest(follow=many, calls=[call(1, "a")]))
    await caller.answers(1)
    assert len(methods.live) == 3


async def test_an_empty_message_is_answered_by_one(methods, connect):
    caller = connect()
    await caller.asks()
    assert await caller.reads() == pb.ExchangeResponse()


async def test_a_worker_that_drains_is_not_kept_by_those_who_come_and_go(methods, connect):
    caller = connect()
    await caller.asks(call(1, "a"))
    await caller.answers(1)
    draining = asyncio.create_task(methods.exchange.drain(5))
    assert (await caller.reads()).draining
    followed = [pb.Audience(match="m")]
    async with asyncio.timeout(3):
        while not draining.done():
            with contextlib.suppress(asyncio.InvalidStateError, grpc.RpcError):
                await caller.call.write(pb.ExchangeRequest(follow=followed))
            await asyncio.sleep(0.05)
    assert await caller.reads() is None
