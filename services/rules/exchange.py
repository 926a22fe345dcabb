"""Batches of calls on long-lived streams, one stream per gateway; answers and pushes as they get ready."""

import asyncio
import contextlib
from typing import Any

import grpc
import structlog
from waystation.rules.v1 import rules_pb2 as pb

from services.core.errors import BadRequest
from services.core.ids import MatchId
from services.kit.readable import Unreadable
from services.kit.statuses import abort
from services.rules.calls import Calls, Methods
from services.rules.live import Live
from services.rules.pushes import Pushes

PACE_S = 0.004  # after several answers: under load they share messages, as calls do at the other end
FOLLOWED_MAX = 100_000  # audiences by one stream; whoever follows more hears of the others by their heads
QUIET_S = 0.3  # without a message, once draining: by then the caller has heard of it and asks elsewhere

_DRAINING = pb.ExchangeResponse(draining=True).SerializeToString()

log = structlog.get_logger()

Context = Any  # a grpc.aio.ServicerContext, read and written message by message


class Exchange:
    """All streams of a worker. `live` learns what each of them follows."""

    def __init__(self, methods: Methods, live: Live) -> None:
        self._methods = methods
        self._live = live
        self._streams: set[Stream] = set()
        self._is_draining = False

    async def serve(self, context: Context) -> None:
        """One stream, until the caller has no more to ask or the worker drains."""
        stream = Stream(context, self._methods, self._live)
        self._streams.add(stream)
        if self._is_draining:
            stream.draining.set()
        try:
            await stream.run()
        except BadRequest as refusal:
            await abort(context, refusal)
        finally:
            self._streams.discard(stream)
            stream.ended.set()

    async def drain(self, limit_s: float) -> None:
        """Tells every caller to ask elsewhere; waits at most `limit_s` until their streams have ended."""
        self._is_draining = True
        streams = tuple(self._streams)
        for stream in streams:
            stream.draining.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                for stream in streams:
                    await stream.ended.wait()


class Stream:
    """One caller's stream. It ends by message, never by cancelling a read that the caller waits on.

    `context` must send bytes as they are (`services.kit.readable.written`).
    """

    def __init__(self, context: Context, methods: Methods, live: Live) -> None:
        self.draining = asyncio.Event()
        self.ended = asyncio.Event()
        self._context = context
        self._live = live
        self._followed: set[tuple[MatchId, int | None]] = set()
        self._calls = Calls(methods)
        self._pushes = Pushes(self._calls.ready)
        self._room = asyncio.Event()
        self._is_over = False
        self._is_asked = False  # whether the stream stands
        self._has_refused = False
        self._heard_at = 0.0

    async def run(self) -> None:
        """Until the caller half-closes, or falls quiet after it was told of the draining."""
        reading = asyncio.create_task(self._keep_reading())
        writing = asyncio.create_task(self._keep_writing())
        leaving = asyncio.create_task(self._leave())
        try:
            first, _ = await asyncio.wait((reading, writing, leaving), return_when=asyncio.FIRST_COMPLETED)
            for task in first:
                task.result()
            await self._calls.finish()
            self._is_over = True
            self._calls.ready.set()
            await writing
        finally:
            for task in (reading, writing, leaving):
                task.cancel()
            self._calls.close()
            for match, seat in self._followed:
                self._live.unfollow(match, seat, self)

    def push(self, push: bytes) -> None:
        """Takes a message with one push, written. Never waits."""
        self._pushes.add(push)

    async def _keep_reading(self) -> None:
        while True:
            message = await self._context.read()
            if message is grpc.aio.EOF:
                return
            if isinstance(message, Unreadable):
                raise message.refusal
            if message.calls:
                self._heard_at = asyncio.get_running_loop().time()
            elif not (message.follow or message.unfollow):
                self._is_asked = True
                self._calls.ready.set()
            self._heed_follows(message)
            for call in message.calls:
                self._calls.take(call)
            while self._calls.is_crowded:
                self._room.clear()
                await self._room.wait()

    def _heed_follows(self, message: pb.ExchangeRequest) -> None:
        for audience in message.unfollow:
            followed = _named(audience)
            self._followed.discard(followed)
            self._live.unfollow(*followed, self)
        for audience in message.follow:
            if len(self._followed) >= FOLLOWED_MAX:
                self._refuse_follow()
                return
            followed = _named(audience)
            self._followed.add(followed)
            self._live.follow(*followed, self)

    def _refuse_follow(self) -> None:
        if not self._has_refused:
            log.warning("follows_refused", most=FOLLOWED_MAX)
        self._has_refused = True

    async def _keep_writing(self) -> None:
        """Sends what is ready until there will be no more."""
        has_told = False
        while not self._is_over or self._calls.has_answers or self._pushes:
            await self._calls.ready.wait()
            await asyncio.sleep(0)  # what else gets ready in this turn of the loop comes along
            answers, pushes = self._calls.collect(), self._pushes.collect()
            is_draining = self.draining.is_set()
            if answers or pushes or is_draining != has_told or self._is_asked:
                has_told, self._is_asked = is_draining, False
                draining = _DRAINING if is_draining else b""
                await self._context.write(b"".join((draining, *answers, *pushes)))
                self._room.set()
                if len(answers) + len(pushes) > 1:
                    await asyncio.sleep(PACE_S)

    async def _leave(self) -> None:
        """Once the worker drains: has it told, and returns when there was nothing to do for a while."""
        await self.draining.wait()
        self._calls.ready.set()
        loop = asyncio.get_running_loop()
        self._heard_at = loop.time()
        while not self._calls.is_idle or loop.time() < self._heard_at + QUIET_S:  # noqa: ASYNC110 - silence is no event
            await asyncio.sleep(QUIET_S / 3)


def _named(audience: pb.Audience) -> tuple[MatchId, int | None]:
    return MatchId(audience.match), audience.seat if audience.HasField("seat") else None
