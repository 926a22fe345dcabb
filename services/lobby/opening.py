"""How a table comes to be: the wishes are checked by the title, and version 1 is stored with the seed."""

import secrets

from services.core.commands import Issued
from services.core.errors import NoSuchMatch, VersionConflict
from services.core.ids import MatchId
from services.core.secrecy import SEED_BYTES, commitment
from services.core.tables import Table
from services.lobby.commands import CreateTable
from services.lobby.decide import Completed, create, repeated
from services.lobby.desk import Desk
from services.lobby.hosts import Hosts
from services.lobby.ids import Ids, invite_hash
from services.lobby.titles import Titles


class Opening:
    """Opens tables. A table's id says which request made it, so the same request opens one table only."""

    def __init__(self, desk: Desk, titles: Titles, ids: Ids, hosts: Hosts) -> None:
        self._desk = desk
        self._titles = titles
        self._ids = ids
        self._hosts = hosts

    async def open(
        self, match: MatchId, command: CreateTable, issued: Issued, completed: Completed | None = None
    ) -> Table:
        """The table `match`, opened now or by the same request before, as it is now.

        `completed`: what the title said already. Raises LimitReached, OptionInvalid, RequestIdReused,
        and as `Titles` does.
        """
        earlier = await self._opened(match, command, issued)
        if earlier is not None:
            return earlier
        if completed is None:
            completed = await self._titles.complete(command.title, command.options, command.seats, match)
        assert issued.player is not None, "a table has a host"
        await self._hosts.admit(issued.player, match, issued.at)
        seed = secrets.token_bytes(SEED_BYTES)
        decision = create(
            match,
            command,
            completed,
            issued,
            commitment=commitment(seed),
            invite=invite_hash(self._ids.invite(match)) if command.private else "",
        )
        try:
            return await self._desk.begin(decision, seed)
        except VersionConflict:  # the same request, a moment earlier
            earlier = await self._opened(match, command, issued)
            if earlier is None:
                raise
            return earlier

    async def _opened(self, match: MatchId, command: CreateTable, issued: Issued) -> Table | None:
        """The table that this request opened before. Raises RequestIdReused if it asked for another one."""
        try:
            table = await self._desk.find(match)
        except NoSuchMatch:
            return None
        return table if repeated(table, command, issued) else None
