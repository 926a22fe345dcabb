"""Looks at tables whose deadline has passed, every second: seals, starts, lists or closes them.

Several lobbies may find the same table; each step is harmless when it is taken twice.
"""

import asyncio
import random

import structlog

from services.core.commands import Issued
from services.core.errors import DomainError, HistoryCorrupt, NoSuchMatch, TableClosed
from services.core.ids import MatchId
from services.core.tables import Table
from services.kit.moment import now_ms
from services.kit.store import LOBBY, EventStore
from services.lobby.commands import CloseTable
from services.lobby.deadlines import STEP_MS, expires_at
from services.lobby.desk import Desk
from services.lobby.starter import Starter
from services.lobby.waiting import Waiting

PAUSE_S = 1.0
ROUND_MAX = 200  # tables looked at in one round; more wait for the next
AT_ONCE = 16

# What fails goes to the back, so that it does not stand in the way of the others.
AGAIN_MS = 5_000
DAMAGED_AGAIN_MS = 10 * 60 * 1000

log = structlog.get_logger()


class Sweeper:
    """One lobby's sweeper."""

    def __init__(self, store: EventStore, desk: Desk, starter: Starter, waiting: Waiting) -> None:
        self._store = store
        self._desk = desk
        self._starter = starter
        self._waiting = waiting

    async def keep_sweeping(self) -> None:
        """Until it is cancelled."""
        while True:
            # Not in step with other lobbies: then most tables are found by one only.
            await asyncio.sleep(PAUSE_S * random.uniform(0.8, 1.2))
            try:
                await self.sweep()
            except DomainError as outage:
                log.warning("sweep_postponed", reason=outage.reason, detail=str(outage))
            except Exception:
                log.exception("sweep_failed")

    async def sweep(self) -> None:
        """One round. Raises StoreUnavailable, Overloaded."""
        due = await self._store.deadlines_due(LOBBY, now_ms(), ROUND_MAX)
        for first in range(0, len(due), AT_ONCE):
            await asyncio.gather(*map(self._look_at, due[first : first + AT_ONCE]))

    async def _look_at(self, match: MatchId) -> None:
        try:
            table = await self._starter.sealed(await self._desk.find(match))
            await self._next_step(table)
        except NoSuchMatch:
            await self._store.clear_deadline(LOBBY, match)
        except HistoryCorrupt as damage:
            log.error("table_damaged", match=match, detail=str(damage))
            await self._store.set_deadline(LOBBY, match, now_ms() + DAMAGED_AGAIN_MS)
        except DomainError as refusal:
            log.warning("table_postponed", match=match, reason=refusal.reason, detail=str(refusal))
            await self._store.set_deadline(LOBBY, match, now_ms() + AGAIN_MS)
        except Exception:  # a fault of ours: of one table, it must not keep all others waiting for ever
            log.exception("table_failed", match=match)
            await self._store.set_deadline(LOBBY, match, now_ms() + DAMAGED_AGAIN_MS)

    async def _next_step(self, table: Table) -> None:
        if table.status == "sealed":
            await self._starter.start(table)
        elif table.status == "closed":
            await self._store.clear_deadline(LOBBY, table.id)
        elif now_ms() >= expires_at(table):
            await self._close(table)
        else:
            if table.created.quick:
                await self._waiting.add(table)
            await self._put_off(table)

    async def _put_off(self, table: Table) -> None:
        await self._store.set_deadline(LOBBY, table.id, expires_at(table))
        if (await self._desk.find(table.id)).version != table.version:
            # What happened meanwhile had set a deadline of its own, which is lost.
            await self._store.set_deadline(LOBBY, table.id, now_ms() + STEP_MS)

    async def _close(self, table: Table) -> None:
        try:
            await self._desk.carry_out(table.id, CloseTable(note="nobody came"), Issued(at=now_ms()))
        except TableClosed:
            log.debug("table_closed_meanwhile", match=table.id)
        await self._waiting.remove(table)
