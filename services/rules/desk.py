"""The walk of a command: find the match, decide, append, answer. Read it from `carry_out` down.

A refusal counts only when it was decided on the match as the store has it, for what is at hand may
lag behind another worker. Whatever is at hand, the store arbitrates.
"""

from typing import NamedTuple

import structlog

from services.core.commands import AnyCommand, Issued
from services.core.decide import Decision, Repeated, decide
from services.core.errors import DomainError, HistoryForked, MoveUnreadable, NotSeated, VersionConflict
from services.core.ids import MatchId
from services.kit import tracing
from services.kit.telemetry import APPEND_CONFLICTS
from services.rules.archive import Archive, Sight
from services.rules.ledger import Ledger
from services.rules.locks import MatchLocks
from services.rules.news import News, receipt_of, view_of

RACES_MAX = 8  # lost by one command; each one means that another worker's command was stored

_TIMELESS = (NotSeated, MoveUnreadable)  # refusals that no later version of the match would take back

log = structlog.get_logger()


class Accepted(NamedTuple):
    """The answer to a stored command: its receipt as JSON, and the match's version after it."""

    receipt: bytes
    version: int


class Desk:
    """Where commands for matches of one title are carried out."""

    def __init__(self, archive: Archive, ledger: Ledger) -> None:
        self._archive = archive
        self._ledger = ledger
        self._locks = MatchLocks()

    async def carry_out(self, id: MatchId, command: AnyCommand, issued: Issued) -> Accepted:
        """Stores what `command` makes of the match. Raises a DomainError when refused: nothing is stored.

        StoreUnavailable leaves open whether it was stored: the same request id again will tell.
        """
        async with self._locks.hold(id):
            settled = await self._settle(id, command, issued)
        if isinstance(settled, Repeated):
            match = await self._archive.at(id, settled.version)
            return Accepted(receipt_of(match, view_of(match, match.seat_of(issued.player))), match.version)
        match, seat = settled.match, settled.match.seat_of(issued.player)
        return Accepted(receipt_of(match, settled.view_for(seat)), match.version)

    async def _settle(self, id: MatchId, command: AnyCommand, issued: Issued) -> News | Repeated:
        """Decides and appends, again after every race lost, until the store agrees or the rules do not."""
        sight = await self._archive.find(id)
        races_left = RACES_MAX
        while True:
            with tracing.span("decide", title=sight.match.started.title):
                decision = _decided(sight, command, issued)
            if isinstance(decision, Repeated):
                return decision
            if decision is not None:
                try:
                    return await self._ledger.append(decision, sight.match.head)
                except (VersionConflict, HistoryForked) as lost:
                    APPEND_CONFLICTS.labels(sight.match.started.title).inc()
                    log.debug("append_conflicted", match=id, detail=str(lost), races_left=races_left)
                    if not races_left:
                        raise
                    races_left -= 1
            sight = Sight(await self._archive.catch_up(sight.match), fresh=True)


def _decided(sight: Sight, command: AnyCommand, issued: Issued) -> Decision | Repeated | None:
    """None when the match at hand may be too old to tell."""
    try:
        decision = decide(sight.match, command, issued)
    except _TIMELESS:
        raise
    except DomainError:
        if sight.fresh:
            raise
        return None
    # A repetition is looked up in a stream that may have lost what is at hand.
    return decision if sight.fresh or isinstance(decision, Decision) else None
