"""How a table becomes a match: `table_sealed` is stored first, then the title's worker starts the match.

Both steps are taken at once when the time has come, and repeated by the sweeper should that fail.
"""

import asyncio

import structlog

from services.core.commands import Issued
from services.core.errors import Deadline, DomainError, TableClosed, TableNotReady
from services.core.ids import MatchId, match_stream
from services.core.tables import Table
from services.kit.moment import now_ms
from services.kit.store import LOBBY, EventStore
from services.lobby.commands import SealTable, StartTable
from services.lobby.deadlines import is_to_be_sealed
from services.lobby.desk import Desk
from services.lobby.titles import Titles

# The player's own command is stored: its answer does not wait longer for what follows.
SETTLE_S_MAX = 2.5

log = structlog.get_logger()


class Starter:
    """Seals and starts."""

    def __init__(self, desk: Desk, store: EventStore, titles: Titles) -> None:
        self._desk = desk
        self._store = store
        self._titles = titles

    async def begin(self, match: MatchId, issued: Issued) -> Table:
        """The table, sealed because its host wants to play with who is there. Raises OptionInvalid."""
        carried = await self._desk.carry_out(match, StartTable(), issued, confirm=self._confirm)
        return carried.table

    async def _confirm(self, sealed: Table) -> None:
        """Asks the title whether so many can play; sealed with fewer than it allows, no match could start."""
        created, players = sealed.created, len(sealed.sealed)
        if players != created.seats:
            await self._titles.complete(created.title, created.options, players, sealed.id)

    async def settle(self, table: Table) -> Table:
        """`table` after the steps that are due. Refuses nothing: what fails or lasts now is the sweeper's."""
        try:
            async with asyncio.timeout(SETTLE_S_MAX):
                table = await self.sealed(table)
                if table.status == "sealed":
                    await self.start(table)
        except DomainError as refusal:
            log.warning("start_postponed", match=table.id, reason=refusal.reason, detail=str(refusal))
        except TimeoutError:
            log.warning("start_postponed", match=table.id, reason=Deadline.reason, detail="the title is slow")
        return table

    async def sealed(self, table: Table) -> Table:
        """`table`, sealed if its last seat is taken and it starts by itself."""
        if not is_to_be_sealed(table):
            return table
        try:
            return (await self._desk.carry_out(table.id, SealTable(), Issued(at=now_ms()))).table
        except (TableClosed, TableNotReady):  # another lobby was faster, or somebody has just left
            return await self._desk.find(table.id)

    async def start(self, table: Table) -> None:
        """Makes sure that the match of a sealed table exists. Raises what `Titles.start` raises."""
        (version,) = await self._store.heads([match_stream(table.id)])
        if version == 0:
            await self._titles.start(table)
        await self._store.clear_deadline(LOBBY, table.id)
