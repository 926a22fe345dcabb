"""Flags that fall by themselves: every worker looks for deadlines that have passed, every second.

Several workers may find the same one; the store lets one of them append, the others see the match over.
"""

import asyncio
import random

import structlog

from services.core.commands import FlagClock, Issued
from services.core.errors import (
    ClockRunning,
    DomainError,
    HistoryCorrupt,
    MatchOver,
    NoSuchMatch,
    Overloaded,
    StoreUnavailable,
)
from services.core.ids import MatchId
from services.kit.moment import now_ms
from services.kit.store import EventStore
from services.kit.tasks import ended
from services.rules.archive import Archive
from services.rules.desk import Desk
from services.rules.ledger import deadline_of

PAUSE_S = 1.0
ROUND_MAX = 200  # deadlines looked at in one round; more wait for the next
AT_ONCE = 16

# A damaged match cannot be flagged; it must not stand in the way of the others' deadlines either.
DAMAGED_PAUSE_MS = 10 * 60 * 1000

log = structlog.get_logger()


class Flags:
    """The sweeper of one worker's title."""

    def __init__(self, title: str, archive: Archive, desk: Desk, store: EventStore) -> None:
        self._title = title
        self._archive = archive
        self._desk = desk
        self._store = store
        self._sweeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._sweeping = asyncio.create_task(self._keep_sweeping())

    async def stop(self) -> None:
        await ended(self._sweeping)

    async def _keep_sweeping(self) -> None:
        while True:
            # Not in step with the other workers: then most deadlines are found by one only.
            await asyncio.sleep(PAUSE_S * random.uniform(0.8, 1.2))
            try:
                await self.sweep()
            except (StoreUnavailable, Overloaded) as outage:
                log.warning("flags_postponed", detail=str(outage))
            except Exception:
                log.exception("flags_failed")

    async def sweep(self) -> None:
        """One round: flags what is due, and corrects deadlines that the match has left behind."""
        due = await self._store.deadlines_due(self._title, now_ms(), ROUND_MAX)
        for first in range(0, len(due), AT_ONCE):
            await asyncio.gather(*map(self._settle, due[first : first + AT_ONCE]))

    async def _settle(self, id: MatchId) -> None:
        try:
            await self._flag(id)
        except NoSuchMatch:
            await self._store.clear_deadline(self._title, id)
        except HistoryCorrupt as damage:
            log.error("flag_impossible", match=id, detail=str(damage))
            await self._store.set_deadline(self._title, id, now_ms() + DAMAGED_PAUSE_MS)
        except DomainError as refusal:
            log.warning("flag_postponed", match=id, reason=refusal.reason, detail=str(refusal))
        except Exception:  # a fault of ours: of one match, it must not keep all others from their flags
            log.exception("flag_failed", match=id)
            await self._store.set_deadline(self._title, id, now_ms() + DAMAGED_PAUSE_MS)

    async def _flag(self, id: MatchId) -> None:
        try:
            await self._desk.carry_out(id, FlagClock(), Issued(at=now_ms()))
        except (ClockRunning, MatchOver):
            await self._correct(id)

    async def _correct(self, id: MatchId) -> None:
        """The deadline is not that of the match: it is set as the match says."""
        match = await self._archive.now(id)
        while True:
            await self._set(id, deadline_of(match))
            seen, match = match, await self._archive.now(id)
            if match.head == seen.head:
                return
            # What happened meanwhile had set a deadline of its own, which may be lost.

    async def _set(self, id: MatchId, deadline: int | None) -> None:
        if deadline:
            await self._store.set_deadline(self._title, id, deadline)
        else:
            await self._store.clear_deadline(self._title, id)
