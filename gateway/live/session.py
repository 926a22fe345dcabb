"""A conversation over one socket: frames in, frames out, whatever carries them."""

import asyncio
import time
from contextlib import ExitStack
from typing import NamedTuple

import msgspec
import structlog
from msgspec import Struct
from prometheus_client import Counter

from gateway.bodies import blamed
from gateway.callers import Reader, Sender, request_id_of
from gateway.identity import Identity
from gateway.limits import Buckets
from gateway.live import frames
from gateway.live.following import Following, Sight
from gateway.live.frames import (
    ByeFrame,
    ClientFrame,
    FollowFrame,
    Frame,
    GreetingFrame,
    HeadFrame,
    HelloFrame,
    UnfollowFrame,
    told,
)
from gateway.live.orders import command_of
from gateway.live.outbox import Outbox, OutboxFull
from gateway.live.served import Served, turned_away
from gateway.live.sockets import Sockets
from gateway.live.transport import Transport
from gateway.matches import Matches
from gateway.problems import problem_of, problem_of_fault
from services.core.errors import BadRequest, DomainError, Overloaded, TokenInvalid, TooManyRequests
from services.core.ids import MatchId, PlayerId
from services.kit.crew import Crew
from services.kit.statuses import Unexpected
from services.kit.tokens import Holder

HELLO_S_MAX = 10.0
FOLLOWS_MAX = 64
# Of one socket at a time; then nothing is read from it until one is answered.
OPEN_FRAMES_MAX = 32
LAST_WORDS_S_MAX = 1.0
# After a frame that was one too many nothing is read for so long: to refuse them costs as well.
TOO_MANY_S = 0.05

# Close codes: 1012 and 1013 are registered (restart, try again later), 4xxx are ours.
NORMAL, RESTART, LATER = 1000, 1012, 1013
UNREADABLE, UNKNOWN_CALLER, EXPIRED, TOO_SLOW = 4000, 4001, 4002, 4008
_REASON_BYTES_MAX = 100  # a close frame carries 123

DROPPED = Counter("live_slow_readers", "Live connections dropped because their client did not read")

log = structlog.get_logger()


class Lent(Struct, frozen=True):
    """What a session needs of the gateway."""

    identity: Identity
    matches: Matches
    sight: Sight
    sockets: Sockets
    player_rate: Buckets
    address_rate: Buckets


class Opening(NamedTuple):
    """How the client came. `first`: what it follows at once; orders without a match are for that one."""

    address: str
    authorization: str | None = None
    traceparent: str = ""
    first: FollowFrame | None = None


class Session:
    """Runs once, until either side ends it."""

    def __init__(self, lent: Lent, transport: Transport, opening: Opening) -> None:
        self._lent = lent
        self._transport = transport
        self._opening = opening
        self._holder: Holder | None = None
        self._follows: dict[MatchId, Following] = {}
        self._outbox = Outbox()
        self._crew = Crew(idle_max=1)
        self._room = asyncio.Semaphore(OPEN_FRAMES_MAX)
        self._close_with = (NORMAL, "")
        self._loop = asyncio.get_running_loop()
        self._held = ExitStack()

    async def run(self) -> None:
        """Returns when the connection has ended."""
        writing = asyncio.create_task(self._write())
        conversing = asyncio.create_task(self._converse())
        self._lent.sight.hub.listen(self._tell_heads)
        try:
            await asyncio.wait((writing, conversing), return_when=asyncio.FIRST_COMPLETED)
            if self._outbox.is_closed:
                await asyncio.wait((writing,), timeout=LAST_WORDS_S_MAX)
        finally:
            self._lent.sight.hub.unlisten(self._tell_heads)
            await _stop(writing, conversing)
            await self._crew.stop()
            while self._follows:
                self._follows.popitem()[1].end()
            self._held.close()

    @property
    def _player(self) -> PlayerId | None:
        return self._holder.player if self._holder else None

    def say_bye(self, reason: str) -> None:
        self._take_leave(reason, RESTART, "follow again elsewhere, with after")

    def _expire(self) -> None:
        self._take_leave("the token has expired", EXPIRED, "follow again with a new token, with after")

    def _take_leave(self, reason: str, code: int, advice: str) -> None:
        resume = {match: following.version for match, following in self._follows.items()}
        self._deliver(told(ByeFrame(reason=reason, resume=resume)))
        self._end(code, advice)

    async def _write(self) -> None:
        while taken := await self._outbox.take():
            await self._transport.send([frame.body for frame in taken])
        await self._transport.close(*self._close_with)

    async def _converse(self) -> None:
        if not await self._greet():
            return
        if self._opening.first is not None:
            await self._answer_soon(self._opening.first)
        while (raw := await self._transport.receive()) is not None:
            await self._heed(raw)

    async def _greet(self) -> bool:
        """Learns who the client is, and greets; False when the connection ends instead."""
        try:
            self._holder = await self._named()
            if self._holder is not None:
                self._held.enter_context(self._lent.sockets.of_player(self._holder.player))
                expiring = self._loop.call_later(self._holder.until - time.time(), self._expire)
                self._held.callback(expiring.cancel)
        except DomainError as error:
            self._deliver(frames.problem(problem_of(error, "")))
            self._end(LATER if isinstance(error, Overloaded) else UNKNOWN_CALLER, str(error))
            return False
        self._deliver(told(GreetingFrame(player=self._player)))
        return True

    async def _named(self) -> Holder | None:
        """The holder of the token in the header, or else in the first frame. Raises DomainError."""
        identity = self._lent.identity
        if self._opening.authorization is not None:
            return identity.bearer(self._opening.authorization)
        try:
            async with asyncio.timeout(HELLO_S_MAX):
                raw = await self._transport.receive()
        except TimeoutError:
            raise TokenInvalid("no hello came") from None
        hello = _read(raw or b"")
        if not isinstance(hello, HelloFrame):
            raise TokenInvalid("without an Authorization header the first frame is a hello")
        return None if hello.token is None else identity.holder(hello.token)

    async def _heed(self, raw: bytes) -> None:
        """Has a frame answered, now or soon; one that cannot be read is charged for as well."""
        try:
            try:
                frame = _read(raw)
            finally:
                self._charge()
            await self._answer_soon(frame)
        except DomainError as error:
            turned_away(error, self._player or "", self._opening.traceparent)
            self._deliver(frames.problem(problem_of(error, ""), frames.id_of(raw)))
            if isinstance(error, TooManyRequests):
                await asyncio.sleep(TOO_MANY_S)

    def _charge(self) -> None:
        """Raises TooManyRequests."""
        if self._player is None:
            self._lent.address_rate.take(self._opening.address)
        else:
            self._lent.player_rate.take(self._player)

    async def _answer_soon(self, frame: ClientFrame) -> None:
        """Answers beside what is answered already, so that a slow answer delays no other."""
        await self._room.acquire()
        self._crew.begin(self._answer(frame))

    async def _answer(self, frame: ClientFrame) -> None:
        request_id = ""
        refusal: DomainError | None = None
        with Served(frame, self._opening.traceparent) as served:
            try:
                match frame:
                    case HelloFrame():
                        raise BadRequest("type", "hello was said already")
                    case FollowFrame():
                        await self._follow(frame)
                    case UnfollowFrame(match=match):
                        await self._unfollow(MatchId(match))
                    case _:
                        request_id = request_id_of(frame.request_id)
                        await self._order(frame, request_id, served.traceparent)
            except DomainError as error:
                refusal = error
                self._deliver(
                    frames.problem(problem_of(error, ""), frame.id, request_id, self._match_of(frame))
                )
            except Exception as fault:  # the outermost frame of a task
                refusal = Unexpected()
                found = problem_of_fault(fault, "live")
                self._deliver(frames.problem(found, frame.id, request_id, self._match_of(frame)))
            finally:
                self._room.release()
            served.close(refusal, self._match_of(frame), self._player or "", request_id)

    def _match_of(self, frame: ClientFrame) -> str:
        """The match that the frame is about, or else the one that the connection was opened for."""
        told = "" if isinstance(frame, HelloFrame) else frame.match
        return told or (self._opening.first.match if self._opening.first else "")

    async def _order(self, order: frames.Order, request_id: str, traceparent: str) -> None:
        if self._player is None:
            raise TokenInvalid("a spectator commands nothing")
        match = self._match_of(order)
        if not match:
            raise BadRequest("match", "is missing")
        sender = Sender(self._player, request_id, traceparent)
        command = command_of(order)
        receipt = await self._lent.matches.submit(sender, MatchId(match), command, order.expected_version)
        # The worker pushes the event with its answer, so that the two most often share a write.
        self._deliver(frames.receipt(order.id, receipt.body))

    async def _follow(self, follow: FollowFrame) -> None:
        match = MatchId(follow.match)
        await self._unfollow(match)
        if len(self._follows) >= FOLLOWS_MAX:
            raise Overloaded("matches followed by one connection", FOLLOWS_MAX, 1)
        reader = Reader(self._player, follow.invite, self._opening.address)
        following = self._follows[match] = Following(self._lent.sight, match, reader, self._deliver)
        try:
            await following.begin(follow.after)
        except BaseException:
            if self._follows.get(match) is following:
                await self._unfollow(match)
            raise

    async def _unfollow(self, match: MatchId) -> None:
        while (following := self._follows.pop(match, None)) is not None:
            following.end()

    def _tell_heads(self) -> None:
        if self._follows:
            heads = {match: following.head for match, following in self._follows.items()}
            self._deliver(told(HeadFrame(heads=heads)))

    def _deliver(self, frame: Frame) -> None:
        try:
            self._outbox.put(frame)
        except OutboxFull:
            DROPPED.inc()
            self._outbox.abandon()
            self._transport.drop(TOO_SLOW, "too slow; follow again with after")

    def _end(self, code: int, reason: str) -> None:
        """Closes the connection once everything delivered so far is sent."""
        self._close_with = (code, fitting(reason))
        self._outbox.close()


def fitting(reason: str) -> str:
    """As much of `reason` as fits into a close frame."""
    return reason.encode()[:_REASON_BYTES_MAX].decode(errors="ignore")


def _read(raw: bytes) -> ClientFrame:
    """Raises BadRequest."""
    try:
        return frames.read_frame(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise blamed(error, "frame") from None


async def _stop(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception) and not isinstance(outcome, ConnectionError):
            log.error("session_failed", exc_info=outcome)
