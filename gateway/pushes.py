"""Who is followed here, what takes the pushes, and which workers have been told to send them.

Any worker may store the next event of a match, so all workers of its title are told. What a worker stores
before it has been told, and what is lost with a stream, shows in the heads.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from waystation.rules.v1 import rules_pb2

from services.core.ids import MatchId, Slug

Heed = Callable[[int, bytes], None]  # the version after an event, and JSON of what happened


class Audience(NamedTuple):
    """Those who see the same of a match. `seat`: None is the spectators."""

    title: Slug
    match: MatchId
    seat: int | None


class Worker(Protocol):
    """A stream to a worker."""

    is_closed: bool

    def follow(self, audiences: Iterable[Audience]) -> None: ...

    def unfollow(self, audience: Audience) -> None: ...


class Pushes:
    """Audiences by title. `on_worker` is called when a worker joins that has something to push."""

    def __init__(self) -> None:
        self.on_worker: Callable[[], None] = lambda: None
        self.has_new_title = asyncio.Event()
        self._heeds: dict[tuple[str, int | None], Heed] = {}
        self._followed: dict[Slug, set[Audience]] = {}
        self._workers: dict[Slug, list[Worker]] = {}

    @property
    def titles(self) -> list[Slug]:
        """Those of which a match is followed."""
        return list(self._followed)

    def follow(self, audience: Audience, heed: Heed) -> None:
        """`heed` gets what workers push to the audience. One follow for each audience."""
        self._heeds[audience.match, audience.seat] = heed
        if audience.title not in self._followed:
            self._followed[audience.title] = set()
            self.has_new_title.set()
        self._followed[audience.title].add(audience)
        for worker in self._workers.get(audience.title, ()):
            worker.follow((audience,))

    def unfollow(self, audience: Audience) -> None:
        del self._heeds[audience.match, audience.seat]
        followed = self._followed[audience.title]
        followed.remove(audience)
        if not followed:
            del self._followed[audience.title]
        for worker in self._workers.get(audience.title, ()):
            worker.unfollow(audience)

    def join(self, title: Slug, worker: Worker) -> None:
        """Tells a worker whose stream stands what is followed; what it stored before is then looked for."""
        others = (other for other in self._workers.get(title, ()) if not other.is_closed)
        self._workers[title] = [*others, worker]
        if followed := self._followed.get(title):
            worker.follow(followed)
            self.on_worker()

    def heed(self, push: rules_pb2.Push) -> None:
        """Hands on what a worker pushed; nobody may follow any more."""
        seat = push.seat if push.HasField("seat") else None
        if (heed := self._heeds.get((push.match, seat))) is not None:
            heed(push.version, push.happened)
