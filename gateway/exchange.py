"""One long-lived stream to one rules worker: calls out in batches, answers and pushes back in any order."""

import asyncio
import contextlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from time import monotonic

import grpc
import structlog
from waystation.rules.v1 import rules_pb2, rules_pb2_grpc

from gateway.pushes import Audience
from services.core.errors import Deadline, Overloaded

OPEN_CALLS_MAX = 2_000
BATCH_CALLS_MAX = 256
BATCH_FOLLOWS_MAX = 8_192
BATCH_BYTES_MAX = 1 << 20  # well under the 4 MiB that gRPC takes in one message
# After a message of several calls: under load what comes in meanwhile shares the next one, which costs both
# ends and the kernel more than the calls in it. Whoever asks one thing after the other is never kept waiting.
PACE_S = 0.004
PART_S_MAX = 2.0  # how long the worker may take to end the stream after we have

_log = structlog.get_logger()


class StreamBroken(Exception):
    """The stream ended before the answer: nobody knows whether the call was carried out."""


class Exchange:
    """Answers to calls by id. A deadline or a refusal concerns one call; a broken stream all open ones.

    `heed` gets every push. `on_standing` is called once, when the worker has said something.
    """

    def __init__(
        self,
        stub: "rules_pb2_grpc.RulesServiceAsyncStub",
        address: str,
        heed: Callable[[rules_pb2.Push], None],
        on_standing: Callable[["Exchange"], None],
    ) -> None:
        self.address = address
        self._heed = heed
        self._on_standing = on_standing
        self.is_draining = False
        self.is_closed = False
        self.heard_at = 0.0  # monotonic time of the last message from the worker
        self._loop = asyncio.get_running_loop()
        self._stream = stub.Exchange()
        self._ids = itertools.count(1)
        self._open: dict[int, asyncio.Future[rules_pb2.Answer]] = {}
        # By id and in order; only calls that are open, so that what has expired is neither kept nor sent.
        self._outgoing: OrderedDict[int, rules_pb2.Call] = OrderedDict()
        self._follows: dict[Audience, bool] = {}  # changes that the worker has not been sent
        self._something_to_send = asyncio.Event()
        self._running = self._loop.create_task(self._run(), name=f"exchange {address}")

    async def ask(self, call: rules_pb2.Call, limit_s: float) -> rules_pb2.Answer:
        """The answer, which may be a refusal. Sets the call's id and timeout.

        Raises Overloaded at once when too many calls are open, Deadline, or StreamBroken.
        """
        if self.is_closed:
            raise StreamBroken(self.address)
        if len(self._open) >= OPEN_CALLS_MAX:
            raise Overloaded("the exchange with a rules worker", OPEN_CALLS_MAX, 1)
        call.id = next(self._ids)
        call.timeout.seconds, call.timeout.nanos = int(limit_s), int(limit_s % 1 * 1e9)
        answer: asyncio.Future[rules_pb2.Answer] = self._loop.create_future()
        self._open[call.id] = answer
        # asyncio.timeout would cost 5 us more, on every call there is.
        timer = self._loop.call_later(limit_s, _expire, answer, limit_s)
        self._outgoing[call.id] = call
        self._something_to_send.set()
        try:
            return await answer
        finally:
            timer.cancel()
            self._open.pop(call.id, None)
            self._outgoing.pop(call.id, None)

    def follow(self, audiences: Iterable[Audience]) -> None:
        """Has the worker push to them before it carries out any call that is asked from now on."""
        self._change(dict.fromkeys(audiences, True))

    def unfollow(self, audience: Audience) -> None:
        self._change({audience: False})

    async def close(self) -> None:
        """Ends the stream by message where the worker plays along; open calls fail as broken."""
        if not self.is_closed:
            self.is_closed = True
            self._something_to_send.set()
        try:
            async with asyncio.timeout(PART_S_MAX):
                await asyncio.shield(self._running)
        except TimeoutError:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def _change(self, follows: dict[Audience, bool]) -> None:
        if not self.is_closed:
            self._follows |= follows
            self._something_to_send.set()

    async def _run(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                writing = tasks.create_task(self._write())
                await self._read()
                writing.cancel()
        except* grpc.RpcError as broken:
            tell = _log.warning if self._open else _log.info  # who leaves while nobody asks harms nobody
            tell("exchange_broken", worker=self.address, why=_first_words(broken))
        finally:
            self.is_closed = True
            # An aio call that is dropped without this is never freed (a fault of grpcio since 1.83).
            self._stream.cancel()
            self._fail_open_calls()

    async def _read(self) -> None:
        while isinstance(message := await self._stream.read(), rules_pb2.ExchangeResponse):
            if not self.heard_at:
                self._on_standing(self)
            self.heard_at = monotonic()
            self.is_draining = self.is_draining or message.draining
            for answer in message.answers:
                waiting = self._open.get(answer.id)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
            for push in message.pushes:
                try:
                    self._heed(push)
                except Exception:  # whatever one follower does, calls are answered and others told
                    _log.exception("push_failed", match=push.match, version=push.version)

    async def _write(self) -> None:
        with contextlib.suppress(asyncio.InvalidStateError):  # the worker has ended the stream
            if not self._outgoing:
                await self._stream.write(rules_pb2.ExchangeRequest())  # answered likewise: the stream stands
            while not self.is_closed:
                await self._something_to_send.wait()
                self._something_to_send.clear()
                while self._outgoing or self._follows:
                    message = self._message()
                    await self._stream.write(message)
                    if len(message.calls) > 1:
                        await asyncio.sleep(PACE_S)
            await self._stream.done_writing()

    def _message(self) -> rules_pb2.ExchangeRequest:
        """Calls go out with the last of the follows that were asked for before them."""
        if not self._follows:
            return rules_pb2.ExchangeRequest(calls=self._batch())
        message = rules_pb2.ExchangeRequest()
        for audience in list(itertools.islice(self._follows, BATCH_FOLLOWS_MAX)):
            named = message.follow if self._follows.pop(audience) else message.unfollow
            named.add(match=audience.match, seat=audience.seat)
        if not self._follows:
            message.calls.extend(self._batch())
        return message

    def _batch(self) -> list[rules_pb2.Call]:
        """The next calls to go out, in order; at least one if there are any."""
        calls: list[rules_pb2.Call] = []
        size = 0
        while self._outgoing and len(calls) < BATCH_CALLS_MAX:
            size += next(iter(self._outgoing.values())).ByteSize()
            if calls and size > BATCH_BYTES_MAX:
                break
            calls.append(self._outgoing.popitem(last=False)[1])
        return calls

    def _fail_open_calls(self) -> None:
        self._outgoing.clear()
        self._follows.clear()
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(StreamBroken(self.address))


def _expire(answer: asyncio.Future[rules_pb2.Answer], limit_s: float) -> None:
    if not answer.done():
        answer.set_exception(Deadline(round(limit_s * 1000)))


def _first_words(broken: BaseExceptionGroup[grpc.RpcError]) -> str:
    first = broken.exceptions[0]
    return first.details() or first.code().name if isinstance(first, grpc.aio.AioRpcError) else str(first)
