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
from services.kit.statuses import Unexpected, facts_text, grpc_code
from services.kit.telemetry import RPC_DURATION

OPEN_MAX = 2_048  # calls and unsent answers
BYTES_MAX = 8 * 1024 * 1024  # of both
CALL_S_MAX = 30.0  # for a caller that sets no timeout, or a longer one
ANSWER_BYTES_MAX = 3 * 1024 * 1024  # a message holds 4 MiB, and an answer is not cut in two
MESSAGE_BYTES_MAX = 1024 * 1024  # of answers that go out together, unless the first is larger

Methods = Mapping[str, Callable[[Any], Awaitable[Any]]]  # by the field that asks and answers

log = structlog.get_logger()


class _Open(Struct):
    """A call under way. `expiry`: answers in its place once the caller no longer waits."""

    id: int
    kind: str
    size: int
    began: float
    is_answered: bool = False
    expiry: asyncio.TimerHandle | None = None


class Calls:
    """Takes calls and collects their answers. `ready` is set while there is something to send."""

    def __init__(self, methods: Methods) -> None:
        self.ready = asyncio.Event()
        self._methods = methods
        self._running: set[asyncio.Task[None]] = set()
        self._answers: deque[pb.Answer] = deque()
        self._bytes = 0

    @property
    def is_idle(self) -> bool:
        """Nothing is under way and nothing waits to be sent."""
        return not self._running and not self._answers

    @property
    def has_answers(self) -> bool:
        return bool(self._answers)

    @property
    def is_crowded(self) -> bool:
        """So many answers wait that the caller must read them before it is listened to again."""
        return len(self._answers) >= OPEN_MAX or self._bytes >= BYTES_MAX

    def take(self, call: pb.Call) -> None:
        """Starts the call, or refuses it at once."""
        limit_s = _limit_s(call)
        kind = call.WhichOneof("ask")
        size = call.ByteSize()
        if len(self._running) + len(self._answers) >= OPEN_MAX or self._bytes + size > BYTES_MAX:
            self._refuse(call.id, Overloaded("the worker's stream", OPEN_MAX, retry_after_s=1))
        elif kind is None:
            self._refuse(call.id, BadRequest("ask", "is missing"))
        elif limit_s <= 0:
            self._refuse(call.id, Deadline(0))
        else:
            self._start(call, kind, size, limit_s)

    def collect(self) -> list[pb.Answer]:
        """Answers for one message, oldest first; `ready` stays set while there are more."""
        batch: list[pb.Answer] = []
        room = MESSAGE_BYTES_MAX
        while self._answers and (not batch or self._answers[0].ByteSize() <= room):
            answer = self._answers.popleft()
            size = answer.ByteSize()
            self._bytes -= size
            room -= size
            batch.append(answer)
        if not self._answers:
            self.ready.clear()
        return batch

    async def finish(self) -> None:
        """Waits until every call has been answered."""
        if self._running:
            await asyncio.wait(self._running)

    def _start(self, call: pb.Call, kind: str, size: int, limit_s: float) -> None:
        self._bytes += size
        loop = asyncio.get_running_loop()
        open = _Open(call.id, kind, size, time.perf_counter())
        open.expiry = loop.call_later(limit_s, self._expire, open, limit_s)
        # A task outlives its stream: what has begun to be stored is better finished and published.
        task = loop.create_task(self._carry_out(open, getattr(call, kind)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _carry_out(self, open: _Open, request: Any) -> None:
        refusal: DomainError | None = None
        try:
            response = await self._methods[open.kind](request)
            answer = pb.Answer(id=open.id, **{open.kind: response})
            if answer.ByteSize() > ANSWER_BYTES_MAX:
                refusal = TooLarge("the answer", ANSWER_BYTES_MAX)
        except DomainError as error:
            refusal = error
        except Exception:
            log.exception("call_failed", method=open.kind)
            refusal = Unexpected()
        self._bytes -= open.size
        if open.is_answered:
            return
        if refusal is not None:
            answer = refused(open.id, refusal)
            log.info("call_refused", method=open.kind, match=request.match, reason=refusal.reason)
        self._close(open, answer, refusal)

    def _expire(self, open: _Open, limit_s: float) -> None:
        late = Deadline(round(limit_s * 1000))
        self._close(open, refused(open.id, late), late)

    def _close(self, open: _Open, answer: pb.Answer, refusal: DomainError | None) -> None:
        open.is_answered = True
        if open.expiry:
            open.expiry.cancel()
        code = grpc_code(refusal).name if refusal else "OK"
        RPC_DURATION.labels("rules", open.kind, code).observe(time.perf_counter() - open.began)
        self._answer(answer)

    def _refuse(self, id: int, error: DomainError) -> None:
        self._answer(refused(id, error))

    def _answer(self, answer: pb.Answer) -> None:
        self._answers.append(answer)
        self._bytes += answer.ByteSize()
        self.ready.set()


def refused(id: int, error: DomainError) -> pb.Answer:
    refusal = pb.Refusal(reason=error.reason, detail=str(error), facts=facts_text(error))
    return pb.Answer(id=id, refusal=refusal)


def _limit_s(call: pb.Call) -> float:
    if not call.HasField("timeout"):
        return CALL_S_MAX
    return min(call.timeout.seconds + call.timeout.nanos / 1e9, CALL_S_MAX)
