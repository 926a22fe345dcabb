"""One client's follow of one match: versions go up by one, or a whole view fills the gap."""

import asyncio
from collections.abc import Callable

import structlog
from msgspec import Raw

from gateway.live.feed import Feed
from gateway.live.frames import EventFrame, Frame, HeadFrame, ViewFrame, told
from gateway.matches import Answered
from services.core.errors import DomainError

# Events that a client who comes back is sent one by one; beyond them a view tells it all.
MISSED_MAX = 200
MISSED_BYTES_MAX = 256 * 1024
# Frames kept while a view is on its way; the oldest go first, and the gap is filled again.
HELD_MAX = 64

_log = structlog.get_logger()

Deliver = Callable[[Frame], None]


class MatchFollower:
    """Catches up by itself whenever something is missing; `deliver` must not block."""

    def __init__(self, feed: Feed, deliver: Deliver) -> None:
        self.version = 0
        self._feed = feed
        self._deliver = deliver
        self._held: dict[int, Frame] = {}
        self._catching_up: asyncio.Task[None] | None = None
        self._is_current = False
        self._has_ended = False

    @property
    def head(self) -> int:
        return max(self._feed.head, self.version)

    async def begin(self, after: int | None) -> None:
        """Delivers the view, or the events after version `after`, and from then on whatever comes.

        A client that has missed nothing hears the head. Raises what the read is refused with.
        """
        view = await self._feed.view()
        missed = [] if after is None else await self._missed(after, view.version)
        if self._has_ended:
            return
        if after is not None and after == view.version:
            self.version = after
            self._deliver(told(HeadFrame(heads={self._feed.match: after})))
        elif missed:
            self._deliver_missed(view, missed)
        else:
            self._deliver_view(view)
        self._release()

    def heed(self, frame: Frame) -> None:
        if frame.version <= self.version:
            return
        if self._is_current and frame.version == self.version + 1:
            self._step(frame)
            return
        self._held[frame.version] = frame
        if len(self._held) > HELD_MAX:
            del self._held[min(self._held)]
        self._catch_up()

    def told(self, head: int) -> None:
        if head > self.version:
            self._catch_up()

    def start_over(self) -> None:
        self.version = 0
        self._catch_up()

    def end(self) -> None:
        """Delivers nothing more, even if it is still beginning."""
        self._has_ended = True
        self._is_current = False
        self._held.clear()
        if self._catching_up is not None:
            self._catching_up.cancel()

    def _catch_up(self) -> None:
        if self._is_current:
            self._is_current = False
            self._catching_up = asyncio.create_task(self._fill())

    async def _fill(self) -> None:
        """A view in place of what is missing. If it cannot be had, the next heads ask for it again."""
        try:
            view = await self._feed.view()
        except DomainError as error:
            _log.info("catching_up_failed", match=self._feed.match, reason=error.reason)
        else:
            if view.version > self.version:
                self._deliver_view(view)
        self._release()

    def _release(self) -> None:
        """What was held and follows now; asks again if there is still a gap."""
        self._is_current = True
        while (frame := self._held.pop(self.version + 1, None)) is not None:
            self._step(frame)
        self._held = {version: frame for version, frame in self._held.items() if version > self.version}
        if self._held:
            self._catch_up()

    def _step(self, frame: Frame) -> None:
        self.version = frame.version
        self._deliver(frame)

    def _deliver_view(self, view: Answered) -> None:
        match, version = self._feed.match, view.version
        self._step(told(ViewFrame(match=match, version=version, view=Raw(view.body)), version))

    def _deliver_missed(self, view: Answered, events: list[Raw]) -> None:
        """The events one by one; the last one comes with the view."""
        match, first = self._feed.match, view.version - len(events) + 1
        for version, event in enumerate(events, first):
            last = Raw(view.body) if version == view.version else None
            happened = EventFrame(match=match, version=version, event=event, view=last)
            self._step(told(happened, version))

    async def _missed(self, after: int, head: int) -> list[Raw]:
        """All events after `after` up to `head`; none if that is nothing, or too much to send."""
        if not 0 < head - after <= MISSED_MAX:
            return []
        events = await self._feed.events(after + 1, head)
        is_all = len(events) == head - after
        return events if is_all and sum(map(len, map(bytes, events))) <= MISSED_BYTES_MAX else []
