"""A client's follow of a match from wherever it stands: an open table, a running match, a finished one."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from gateway.callers import Reader
from gateway.live.feed import Feed, Follower
from gateway.live.follower import Deliver, MatchFollower
from gateway.live.frames import Frame, TableFrame, problem, told
from gateway.live.hub import Hub
from gateway.matches import Eyes, eyes_of
from gateway.places import Places
from gateway.problems import problem_of
from gateway.pushes import Audience
from gateway.tables import shown
from services.core.errors import OUTAGES, DomainError, NotStarted
from services.core.ids import MatchId, PlayerId, Slug

F = TypeVar("F", bound=Follower)


class Sight(Struct, frozen=True):
    """What a follow needs of the gateway."""

    hub: Hub
    places: Places


class Following:
    """`begin` once, `end` always."""

    def __init__(self, sight: Sight, match: MatchId, reader: Reader, deliver: Deliver) -> None:
        self.match = match
        self._sight = sight
        self._reader = reader
        self._deliver = deliver
        self._follower: MatchFollower | None = None
        self._joined: list[tuple[Audience, Follower]] = []
        self._waiting: asyncio.Task[None] | None = None
        self._has_ended = False

    @property
    def version(self) -> int:
        """What the client has been brought to; 0 before the match begins."""
        return self._follower.version if self._follower else 0

    @property
    def head(self) -> int:
        """Where the match is known to be."""
        return self._follower.head if self._follower else 0

    async def begin(self, after: int | None) -> None:
        """Delivers what there is, and from then on whatever comes.

        Raises NoSuchMatch, NotSeated for a stranger at a private match, and what reads are refused with.
        """
        try:
            await self._follow(after)
        except NotStarted:
            await self._wait()

    def end(self) -> None:
        """Delivers nothing more, even if it is still beginning."""
        self._has_ended = True
        if self._waiting is not None:
            self._waiting.cancel()
        if self._follower is not None:
            self._follower.end()
        while self._joined:
            self._sight.hub.leave(*self._joined.pop())

    async def _follow(self, after: int | None) -> None:
        """Raises NotStarted while there is no match yet."""
        place = await self._sight.places.begun(self.match)
        await self._sight.places.admit(place, self._reader)
        if self._has_ended:
            return
        seat = place.seat_of(self._reader.player)
        audience = Audience(place.title, self.match, seat)
        follower = self._follower = self._join(audience, eyes_of(place, seat), self._follower_of)
        try:
            await follower.begin(after)
        except DomainError:
            if not self._has_ended:
                self._follower = None
                self._leave(audience, follower)
            raise

    def _follower_of(self, feed: Feed) -> MatchFollower:
        return MatchFollower(feed, self._deliver)

    async def _wait(self) -> None:
        """Shows the table, and follows the match once it begins."""
        player = self._reader.player
        table = await self._sight.places.table_for(self.match, self._reader)
        if self._has_ended:
            return
        self._deliver(told(TableFrame(match=self.match, table=shown(table, player))))
        beginning = asyncio.Event()
        beginning.set()  # it may have begun before pushes arrived here
        spectators = Audience(Slug(table.title), self.match, None)
        eyes = Eyes(player=PlayerId(""), admitted=True)
        stirred = self._join(spectators, eyes, lambda feed: _Stirred(beginning))
        self._waiting = asyncio.create_task(self._follow_once(beginning, spectators, stirred))

    async def _follow_once(self, beginning: asyncio.Event, audience: Audience, stirred: Follower) -> None:
        while self._follower is None:
            await beginning.wait()
            beginning.clear()
            try:
                await self._follow(None)
            except (NotStarted, *OUTAGES):
                continue  # the next head of the match stirs again
            except DomainError as error:
                self._deliver(problem(problem_of(error, ""), match=self.match))
                break
        self._leave(audience, stirred)

    def _join(self, audience: Audience, eyes: Eyes, follower_of: Callable[[Feed], F]) -> F:
        follower = self._sight.hub.join(audience, eyes, follower_of)
        self._joined.append((audience, follower))
        return follower

    def _leave(self, audience: Audience, follower: Follower) -> None:
        self._joined.remove((audience, follower))
        self._sight.hub.leave(audience, follower)


class _Stirred:
    """Waits for the first sign of a match."""

    def __init__(self, beginning: asyncio.Event) -> None:
        self._beginning = beginning

    def heed(self, frame: Frame) -> None:
        self._beginning.set()

    def told(self, head: int) -> None:
        if head:
            self._beginning.set()

    def start_over(self) -> None:
        pass
