"""A whole backend in one process, one step at a time: two workers on one store, a bus that doubles and
reorders, read models that are rebuilt at any moment. What goes wrong is decided by whoever drives it.

Built of the parts that run in production; only the store, the bus and the read models' shelf are in memory.
"""

import asyncio
import random
from collections.abc import Iterable, Sequence

import msgspec
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.commands import AnyCommand
from services.core.errors import DomainError, StoreUnavailable
from services.core.ids import MatchId, PlayerId, StreamName, match_stream, stream_match
from services.kit.memory_store import MemoryStore
from services.kit.store import Append
from services.projection.follow import Follower
from services.projection.models import Change
from services.projection.summary import Summary
from services.rules.published import published
from services.rules.reads import Reader, Shown
from tests.rules.hosting import TOY_LIBRARY, Host

ROOM = 2  # folded matches a worker keeps: fewer than there are, so that it forgets and folds again


class FrailStore(MemoryStore):
    """A store whose next appends may fail: before they are stored, or after. Others come in between."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[str] = []  # of the next appends: "before" or "after"
        self.is_contended = False

    async def append(self, append: Append) -> None:
        if self.is_contended:
            await asyncio.sleep(0)
        failure = self.failures.pop(0) if self.failures else ""
        if failure == "before":
            raise StoreUnavailable("nothing went out")
        await super().append(append)
        if failure == "after":
            raise StoreUnavailable("the answer was lost")


class Shelf:
    """Read models in memory: generations of summaries, each replaced only by who read it last."""

    def __init__(self) -> None:
        self.present = 1
        self.kept: dict[int, dict[MatchId, Summary]] = {1: {}}

    async def generations(self) -> list[int]:
        return sorted(self.kept)

    async def load(self, generation: int, matches: Sequence[MatchId]) -> list[Summary | None]:
        return [self.kept[generation].get(match) for match in matches]

    async def save(self, generation: int, changes: Sequence[Change]) -> list[bool]:
        done = []
        for before, after in changes:
            fits = self.kept[generation].get(after.match) == before
            if fits:
                self.kept[generation][after.match] = after
            done.append(fits)
        return done


class World:
    """`told`: receipts by match, player, kind of command and request id. `mail`: yet to be delivered.

    `now`: UTC ms.
    """

    def __init__(self) -> None:
        self.store = FrailStore()
        self.now = 1
        self.workers = [self._worker(), self._worker()]
        self.mail: list[PublishedEvent] = []
        self.shelf = Shelf()
        self.follower = Follower(self.shelf, self._missing)  # type: ignore[arg-type]
        self.told: dict[tuple[MatchId, PlayerId, str, str], tuple[int, str]] = {}

    def _worker(self) -> Host:
        return Host(TOY_LIBRARY, self.store, room=ROOM)

    async def asks(
        self, worker: int, match: MatchId, player: PlayerId, command: AnyCommand, request_id: str
    ) -> int | None:
        """The version of the receipt; None when refused or unknown. One request never gets two receipts."""
        host = self.workers[worker]
        try:
            self.now += 1  # a clock of its own, so that every run is the same again
            accepted = await host.does(match, player, command, request_id, at=self.now)
        except DomainError:
            return None
        finally:
            self._post(host)
        request = match, player, type(command).__name__, request_id
        receipt = msgspec.json.decode(accepted.receipt)
        told = accepted.version, receipt["head"]
        assert self.told.setdefault(request, told) == told, "two receipts for one request"
        return accepted.version

    async def views(self, match: MatchId, reader: Reader) -> list[Shown]:
        """What each worker shows."""
        return [await host.reads.view(match, reader, None) for host in self.workers]

    def crash(self, worker: int) -> None:
        """The worker is replaced; what it had not published stays in the outbox."""
        self.workers[worker] = self._worker()

    async def sweep(self, worker: int) -> None:
        """The worker publishes what it finds in the outbox."""
        host = self.workers[worker]
        for stream, version in await self.store.outbox_due(host.library.slug, 1 << 60, 1000):
            self.mail += (await host.published.after(stream_match(stream), version - 1))[:1]

    async def deliver(self, rng: random.Random, share: float, again: bool) -> None:
        """Delivers a share of the mail in any order; what comes `again` stays in the mail."""
        chosen = [letter for letter in self.mail if rng.random() < share]
        rng.shuffle(chosen)
        await self.follower.follow(chosen)
        if not again:
            self.mail = [letter for letter in self.mail if letter not in chosen]

    async def rebuild(self, matches: Iterable[MatchId]) -> None:
        """All streams into a new generation, and a swap."""
        building = self.shelf.present + 1
        self.shelf.kept[building] = {}
        for match in matches:
            await self.follower.fold(building, await self._missing("", match_stream(match), 0))
        del self.shelf.kept[self.shelf.present]
        self.shelf.present = building

    def _post(self, host: Host) -> None:
        self.mail += [published(news) for news in host.told]
        host.told.clear()

    async def _missing(self, title: str, stream: StreamName, after: int) -> Sequence[PublishedEvent]:
        return await self.workers[0].published.after(stream_match(stream), after)
