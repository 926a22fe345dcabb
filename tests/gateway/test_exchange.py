"""The stream to a worker, against a real gRPC server whose answers the test decides."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import grpc
import pytest
from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1 import rules_pb2_grpc

from gateway import exchange as exchange_module
from gateway.exchange import BATCH_FOLLOWS_MAX, OPEN_CALLS_MAX, Exchange, StreamBroken
from gateway.pushes import Audience
from services.core.errors import Deadline, Overloaded
from services.core.ids import MatchId, Slug
from tests.waiting import until

pytestmark = pytest.mark.anyio

Serve = Callable[["Worker"], Awaitable[None]]


class Worker(rules_pb2_grpc.RulesServiceServicer):
    """Keeps what it reads and answers when told to. `pushed`: what of its pushes has arrived.

    `stood`: the exchange, once it knows that the stream stands.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.batches: list[pb.ExchangeRequest] = []
        self.pushed: list[pb.Push] = []
        self.stood: list[Exchange] = []
        self.context: grpc.aio.ServicerContext[pb.ExchangeRequest, pb.ExchangeResponse]

    async def Exchange(self, request_iterator: object, context: object) -> None:  # type: ignore[override]  # noqa: N802
        self.context = context  # type: ignore[assignment]
        await self._serve(self)

    async def read(self) -> pb.ExchangeRequest | None:
        """The next message that asks for something."""
        while isinstance(message := await self.context.read(), pb.ExchangeRequest):
            if message.calls or message.follow or message.unfollow:
                self.batches.append(message)
                return message
            await self.context.write(pb.ExchangeResponse())
        return None

    async def answer(self, *calls: pb.Call, draining: bool = False) -> None:
        answers = [
            pb.Answer(id=call.id, get_match=pb.GetMatchResponse(view=match_of(call))) for call in calls
        ]
        await self.context.write(pb.ExchangeResponse(answers=answers, draining=draining))


def ignored(push: pb.Push) -> None:
    raise AssertionError("nothing is pushed here")


def match_of(call: pb.Call) -> bytes:
    return call.get_match.match.encode()


def audience(match: str, seat: int | None = None) -> Audience:
    return Audience(Slug("make_way"), MatchId(match), seat)


def asking(match: str) -> pb.Call:
    return pb.Call(get_match=pb.GetMatchRequest(match=match))


@asynccontextmanager
async def exchange_with(serve: Serve) -> AsyncIterator[tuple[Exchange, Worker]]:
    worker = Worker(serve)
    server = grpc.aio.server()
    rules_pb2_grpc.add_RulesServiceServicer_to_server(worker, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = rules_pb2_grpc.RulesServiceStub(channel)
        exchange = Exchange(stub, f"127.0.0.1:{port}", worker.pushed.append, worker.stood.append)
        yield exchange, worker
        await exchange.close()
    await server.stop(0)


async def echo(worker: Worker) -> None:
    while (message := await worker.read()) is not None:
        await worker.answer(*message.calls)


async def test_every_call_gets_its_own_answer_whatever_order_they_come_in() -> None:
    async def backwards(worker: Worker) -> None:
        calls: list[pb.Call] = []
        while len(calls) < 50 and (message := await worker.read()) is not None:
            calls += message.calls
        for call in reversed(calls):
            await worker.answer(call)
        await worker.read()

    async with exchange_with(backwards) as (exchange, _):
        names = [f"m{number}" for number in range(50)]
        answers = await asyncio.gather(*(exchange.ask(asking(name), 5) for name in names))
    assert [answer.get_match.view.decode() for answer in answers] == names


async def test_calls_that_come_in_together_go_out_in_one_message() -> None:
    async with exchange_with(echo) as (exchange, worker):
        await exchange.ask(asking("first"), 5)
        await asyncio.gather(*(exchange.ask(asking(f"m{number}"), 5) for number in range(100)))
    assert len(worker.batches) <= 3


@pytest.mark.parametrize(
    ("bound", "most", "sizes"),
    [
        ("BATCH_CALLS_MAX", 3, [3, 3, 1]),
        ("BATCH_BYTES_MAX", 2 * asking("m0").ByteSize() + 20, [2, 2, 2, 1]),
        ("BATCH_BYTES_MAX", 1, [1] * 7),  # one that is larger than the bound goes alone
    ],
)
async def test_a_message_holds_no_more_than_its_bound_and_nothing_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, bound: str, most: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(exchange_module, bound, most)
    async with exchange_with(echo) as (exchange, worker):
        await until(lambda: worker.stood)
        names = [f"m{number}" for number in range(7)]
        answers = await asyncio.gather(*(exchange.ask(asking(name), 5) for name in names))
    assert [len(message.calls) for message in worker.batches] == sizes
    assert [answer.get_match.view.decode() for answer in answers] == names


async def test_the_deadline_of_one_call_does_not_touch_another() -> None:
    async def ignores_slow(worker: Worker) -> None:
        while (message := await worker.read()) is not None:
            await worker.answer(*(call for call in message.calls if match_of(call) != b"slow"))

    async with exchange_with(ignores_slow) as (exchange, _):
        slow = asyncio.create_task(exchange.ask(asking("slow"), 0.2))
        quick = await exchange.ask(asking("quick"), 5)
        with pytest.raises(Deadline):
            await slow
    assert quick.get_match.view == b"quick"


async def test_the_worker_is_told_how_long_the_caller_waits() -> None:
    async with exchange_with(echo) as (exchange, worker):
        await exchange.ask(asking("m"), 1.5)
    assert worker.batches[0].calls[0].timeout.ToMilliseconds() == 1500


async def test_a_broken_stream_fails_every_open_call_as_unknown() -> None:
    async def breaks(worker: Worker) -> None:
        await worker.read()
        await worker.context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    async with exchange_with(breaks) as (exchange, _):
        outcomes = await asyncio.gather(
            *(exchange.ask(asking(f"m{number}"), 5) for number in range(5)), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [StreamBroken] * 5
        assert exchange.is_closed
        with pytest.raises(StreamBroken):
            await exchange.ask(asking("late"), 5)


async def test_a_worker_that_drains_is_known_and_still_answers_what_is_open() -> None:
    async def drains(worker: Worker) -> None:
        message = await worker.read()
        assert message is not None
        await worker.context.write(pb.ExchangeResponse(draining=True))
        await worker.answer(*message.calls)
        await worker.read()

    async with exchange_with(drains) as (exchange, _):
        answer = await exchange.ask(asking("m"), 5)
        assert exchange.is_draining
    assert answer.get_match.view == b"m"


async def test_more_open_calls_than_the_bound_are_refused_at_once() -> None:
    async def silent(worker: Worker) -> None:
        while await worker.read() is not None:
            pass

    async with exchange_with(silent) as (exchange, _):
        waiting = [asyncio.create_task(exchange.ask(asking("m"), 30)) for _ in range(OPEN_CALLS_MAX)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await exchange.ask(asking("one too many"), 30)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_closing_ends_the_stream_by_message() -> None:
    ended = asyncio.Event()

    async def until_the_end(worker: Worker) -> None:
        await echo(worker)
        ended.set()

    async with exchange_with(until_the_end) as (exchange, _):
        await exchange.ask(asking("m"), 5)
        await exchange.close()
        async with asyncio.timeout(2):
            await ended.wait()


async def test_a_worker_that_is_not_there_breaks_the_stream() -> None:
    stood: list[Exchange] = []
    async with grpc.aio.insecure_channel("127.0.0.1:1") as channel:
        exchange = Exchange(rules_pb2_grpc.RulesServiceStub(channel), "127.0.0.1:1", ignored, stood.append)
        with pytest.raises(StreamBroken):
            await exchange.ask(asking("m"), 5)
        await exchange.close()
    assert not stood


async def test_a_worker_hears_of_a_follow_before_the_calls_that_were_asked_after_it() -> None:
    async with exchange_with(echo) as (exchange, worker):
        exchange.follow([audience("m"), audience("m", 0)])
        await exchange.ask(asking("m"), 5)
        exchange.unfollow(audience("m", 0))
        await exchange.ask(asking("m"), 5)
    first, second = worker.batches
    assert list(first.follow) == [pb.Audience(match="m"), pb.Audience(match="m", seat=0)]
    assert list(second.unfollow) == [pb.Audience(match="m", seat=0)]
    assert not first.unfollow
    assert not second.follow


async def test_only_the_last_word_about_an_audience_is_sent() -> None:
    async with exchange_with(echo) as (exchange, worker):
        exchange.follow([audience("a"), audience("b")])
        exchange.unfollow(audience("a"))
        await exchange.ask(asking("m"), 5)
    (message,) = worker.batches
    assert [followed.match for followed in message.follow] == ["b"]
    assert [followed.match for followed in message.unfollow] == ["a"]


async def test_more_follows_than_a_message_takes_all_arrive_before_the_call() -> None:
    async with exchange_with(echo) as (exchange, worker):
        exchange.follow(audience(f"m{number}") for number in range(2 * BATCH_FOLLOWS_MAX + 1))
        await exchange.ask(asking("m"), 5)
    assert [len(message.follow) for message in worker.batches] == [BATCH_FOLLOWS_MAX, BATCH_FOLLOWS_MAX, 1]
    assert [len(message.calls) for message in worker.batches] == [0, 0, 1]


async def test_pushes_arrive_in_order_beside_the_answers() -> None:
    async def pushes_first(worker: Worker) -> None:
        while (message := await worker.read()) is not None:
            pushes = [pb.Push(match="m", version=version) for version in (2, 3)]
            await worker.context.write(pb.ExchangeResponse(pushes=pushes))
            await worker.answer(*message.calls)

    async with exchange_with(pushes_first) as (exchange, worker):
        await exchange.ask(asking("m"), 5)
    assert [push.version for push in worker.pushed] == [2, 3]


async def test_a_follow_on_a_broken_stream_is_forgotten() -> None:
    async def breaks(worker: Worker) -> None:
        await worker.context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    async with exchange_with(breaks) as (exchange, _):
        with pytest.raises(StreamBroken):
            await exchange.ask(asking("m"), 5)
        exchange.follow([audience("m")])
        assert not exchange._follows


async def test_a_push_that_its_taker_fails_on_costs_no_answer_and_no_other_push() -> None:
    async def pushes_first(worker: Worker) -> None:
        while (message := await worker.read()) is not None:
            pushes = [pb.Push(match="m", version=version) for version in (1, 2, 3)]
            await worker.context.write(pb.ExchangeResponse(pushes=pushes))
            await worker.answer(*message.calls)

    async with exchange_with(pushes_first) as (exchange, worker):

        def fails_on_two(push: pb.Push) -> None:
            if push.version == 2:
                raise ZeroDivisionError
            worker.pushed.append(push)

        exchange._heed = fails_on_two
        answer = await exchange.ask(asking("m"), 5)
    assert answer.get_match.view == b"m"
    assert [push.version for push in worker.pushed] == [1, 3]


async def test_a_stream_that_nobody_asks_on_is_known_to_stand_and_known_so_once() -> None:
    async with exchange_with(echo) as (exchange, worker):
        await until(lambda: worker.stood)
        await exchange.ask(asking("m"), 5)
        assert worker.stood == [exchange]


async def test_a_stream_that_ends_while_it_is_written_to_fails_what_is_open_and_nothing_else() -> None:
    async def leaves(worker: Worker) -> None:
        await worker.read()

    for _ in range(50):
        async with exchange_with(leaves) as (exchange, _):
            asking_on = [asyncio.create_task(exchange.ask(asking("m"), 5)) for _ in range(3)]
            for number in range(50):
                exchange.follow([audience(f"m{number}")])
                await asyncio.sleep(0)
            outcomes = await asyncio.gather(*asking_on, return_exceptions=True)
            assert {type(outcome) for outcome in outcomes} == {StreamBroken}
            await exchange.close()  # raises what has ended the exchange, if it was not foreseen


async def test_calls_that_expired_before_they_went_out_are_neither_kept_nor_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange_module, "OPEN_CALLS_MAX", 3)
    async with exchange_with(echo) as (exchange, worker):
        await exchange.ask(asking("first"), 5)
        is_read_again, write = asyncio.Event(), exchange._stream.write

        async def write_once_it_is_read(message: pb.ExchangeRequest) -> None:
            await is_read_again.wait()
            await write(message)

        monkeypatch.setattr(exchange._stream, "write", write_once_it_is_read)
        for _ in range(4):
            calls = [exchange.ask(asking("late"), 0.01) for _ in range(3)]
            ended = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(each, Deadline) for each in ended)
        is_read_again.set()
        await exchange.ask(asking("now"), 5)
    sent = [match_of(call).decode() for message in worker.batches for call in message.calls]
    assert sent == ["first", *["late"] * 3, "now"]  # those of the one message that was on its way already
