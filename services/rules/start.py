"""How a sealed table becomes a match. Starting twice is harmless: the second finds what the first stored."""

from collections.abc import Callable

from msgspec import Raw, Struct

from services.core import start as core_start
from services.core.clock import Clock
from services.core.errors import NoSuchMatch, VersionConflict
from services.core.events import genesis
from services.core.ids import MatchId, match_stream
from services.core.match_events import MatchStarted, Sitting
from services.kit.store import EventStore
from services.rules.archive import Archive
from services.rules.ledger import Ledger


class Sealed(Struct, frozen=True, kw_only=True):
    """What the table agreed on. `options`: JSON. `at`: UTC ms."""

    match: MatchId
    options: Raw
    seats: tuple[Sitting, ...]
    private: bool
    clock: Clock | None
    at: int
    traceparent: str = ""


class Starter:
    """`newest`: the rules version that new matches begin with; it may raise TitleDown."""

    def __init__(
        self, archive: Archive, store: EventStore, ledger: Ledger, newest: Callable[[], int]
    ) -> None:
        self._archive = archive
        self._store = store
        self._ledger = ledger
        self._newest = newest

    async def start(self, sealed: Sealed) -> int:
        """The version of the match, which has started now or before.

        Raises NoSuchMatch without a table that drew a seed, OptionInvalid, and VersionConflict when the
        match has started on other terms.
        """
        seed = await self._store.seed(sealed.match)
        if seed is None:
            raise NoSuchMatch(sealed.match)
        decision = core_start.start(
            sealed.match,
            self._archive.library.ruleset(self._newest()),
            seed,
            options=sealed.options,
            seats=sealed.seats,
            private=sealed.private,
            clock=sealed.clock,
            at=sealed.at,
            traceparent=sealed.traceparent,
        )
        try:
            news = await self._ledger.append(decision, genesis(match_stream(sealed.match)))
        except VersionConflict:
            match = await self._archive.now(sealed.match)
            if _terms(match.started) != _terms(decision.match.started):
                raise
            return match.version
        return news.match.version


def _terms(started: MatchStarted) -> tuple[object, ...]:
    """What the table agreed on; time and rules version are the choice of the worker that came first."""
    return bytes(started.options), started.seats, started.private, started.clock, started.commitment
