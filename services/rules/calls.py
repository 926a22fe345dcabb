"""The open calls of one stream: each its own task with its own deadline, all of them bounded."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from msgspec import Struct
from waystation.rules.v1 import rules_pb2 as pb

from services.core.errors import BadRequest, Deadline, DomainError, Overloaded, TooLarge
from services.kit import request_log, tracing
from services.kit.crew import Crew
from services.kit.statuses import TEXT_MAX, Unexpected, facts_text, grpc_code, http_status
from services.kit.telemetry import rpc_duration

OPEN_MAX = 2_048  # calls and unsent answers
BYTES_MAX = 8 * 1024 * 1024  # of either
CALL_S_MAX = 30.0  # for a caller that sets no timeout, or a longer one
ANSWER_BYTES_MAX = 3 * 1024 * 1024  # a message holds 4 MiB, and an answer is not cut in two
MESSAGE_BYTES_MAX = 1024 * 1024  # of answers that go out together, unless the first is larger

Methods = Mapping[str, Callable[[Any], Awaitable[Any]]]  # by the field that asks and answers

log = structlog.get_logger()


class _Open(Struct):
    """A call under way. `expiry`: answers in its place once the caller no longer waits."""

    id: int
    kind: str
    request: Any
    size: int
    began: float
    traceparent: str
    expiry: asyncio.TimerHandle | None = None
    is_answered: bool = False


class Calls:
    """Takes calls and collects their answers. `ready` is set while there is something to send.

    An answer is kept as a message with nothing else in it, written: such messages one after the other are
    one message with all their answers. To add what was a message of its own would copy it twice.
    """

    def __init__(self, methods: Methods) -> None:
        self.ready = asyncio.Event()
        self._methods = methods
        self._crew = Crew()
        self._running = 0
        self._running_bytes = 0
        self._is_nothing_running = asyncio.Event()
        self._is_nothing_running.set()
        self._unsent: deque[bytes] = deque()
        self._unsent_bytes = 0

    @property
    def has_answers(self) -> bool:
        return bool(self._unsent)

    @property
    def is_idle(self) -> bool:
        """Nothing is under way and nothing waits to be sent."""
        return not self._running and not self._unsent

    @property
    def is_crowded(self) -> bool:
        """So many answers wait that the caller must read them before it is listened to again."""
        return len(self._unsent) >= OPEN_MAX or self._unsent_bytes >= BYTES_MAX

    def take(self, call: pb.Call) -> None:
        """Starts the call, or refuses it at once."""
        kind = call.WhichOneof("ask")
        limit_s = _limit_s(call)
        size = call.ByteSize()
        if kind is None:
            self._answer(call.id, "refusal", _refusal(BadRequest("ask", "is missing")))
        elif limit_s <= 0:
            self._answer(call.id, "refusal", _refusal(Deadline(0)))
        elif self._has_room(size):
            asked = getattr(call, kind)
            self._start(_Open(call.id, kind, asked, size, time.perf_counter(), call.traceparent), limit_s)
        else:
            crowded = Overloaded("the worker's stream", OPEN_MAX, retry_after_s=1)
            self._answer(call.id, "refusal", _refusal(crowded))

    def collect(self) -> list[bytes]:
        """Answers for one message, oldest first; `ready` stays set while there are more."""
        batch: list[bytes] = []
        room = MESSAGE_BYTES_MAX
        while self._unsent and (not batch or len(self._unsent[0]) <= room):
            batch.append(self._unsent.popleft())
            self._unsent_bytes -= len(batch[-1])
            room -= len(batch[-1])
        if not self._unsent:
            self.ready.clear()
        return batch

    async def finish(self) -> None:
        """Waits until every call has been answered."""
        await self._is_nothing_running.wait()

    def close(self) -> None:
        """Takes no more calls; those under way go on."""
        self._crew.dismiss()

    def _has_room(self, size: int) -> bool:
        is_free = self._running + len(self._unsent) < OPEN_MAX
        return is_free and self._running_bytes + size <= BYTES_MAX

    def _start(self, call: _Open, limit_s: float) -> None:
        loop = asyncio.get_running_loop()
        call.expiry = loop.call_later(limit_s, self._expire, call, limit_s)
        self._running += 1
        self._running_bytes += call.size
        self._is_nothing_running.clear()
        # It outlives its stream: what has begun to be stored is better finished and published.
        self._crew.begin(self._carry_out(call))

    async def _carry_out(self, call: _Open) -> None:
        with tracing.span(call.kind, "server", call.traceparent) as span:
            try:
                response = await self._methods[call.kind](call.request)
            except DomainError as error:
                span.fail(error.reason)
                self._refuse(call, error)
            except Exception:
                log.exception("call_failed", method=call.kind)
                span.fail(Unexpected.reason)
                self._refuse(call, Unexpected())
            else:
                self._close(call, call.kind, response, None)
            finally:
                self._running_bytes -= call.size
                self._running -= 1
                if not self._running:
                    self._is_nothing_running.set()

    def _expire(self, call: _Open, limit_s: float) -> None:
        self._refuse(call, Deadline(round(limit_s * 1000)))

    def _refuse(self, call: _Open, error: DomainError) -> None:
        self._close(call, "refusal", _refusal(error), error)

    def _close(self, call: _Open, outcome: str, response: Any, refusal: DomainError | None) -> None:
        """Answers the call, unless its time was over before. `outcome`: the field that holds `response`."""
        if call.is_answered:
            return
        call.is_answered = True
        if call.expiry:
            call.expiry.cancel()
        took_s = time.perf_counter() - call.began
        code = "OK" if refusal is None else grpc_code(refusal).name
        rpc_duration("rules", call.kind, code).observe(took_s)
        level = request_log.level(200 if refusal is None else http_status(refusal), took_s)
        if level is not None:
            _tell(level, call, code, took_s, refusal.reason if refusal else "")
        self._answer(call.id, outcome, response)

    def _answer(self, id: int, outcome: str, response: Any) -> None:
        written = _written(id, outcome, response)
        if len(written) > ANSWER_BYTES_MAX:
            written = _written(id, "refusal", _refusal(TooLarge("the answer", ANSWER_BYTES_MAX)))
        self._unsent.append(written)
        self._unsent_bytes += len(written)
        self.ready.set()


def _written(id: int, outcome: str, response: Any) -> bytes:
    """A message with this answer alone."""
    message = pb.ExchangeResponse()
    getattr(message.answers.add(id=id), outcome).CopyFrom(response)
    return message.SerializeToString()


def _tell(level: request_log.Level, call: _Open, code: str, took_s: float, reason: str) -> None:
    request_log.tell(
        level,
        "call",
        call.kind,
        code,
        took_s,
        reason=reason,
        match=call.request.match,
        player=getattr(call.request, "player", ""),
        request_id=getattr(call.request, "request_id", ""),
        trace_id=tracing.trace_id(getattr(call.request, "traceparent", "")),
    )


def _refusal(error: DomainError) -> pb.Refusal:
    return pb.Refusal(reason=error.reason, detail=str(error)[:TEXT_MAX], facts=facts_text(error))


def _limit_s(call: pb.Call) -> float:
    if not call.HasField("timeout"):
        return CALL_S_MAX
    return min(call.timeout.seconds + call.timeout.nanos / 1e9, CALL_S_MAX)
