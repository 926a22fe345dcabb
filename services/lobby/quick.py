"""Quick match: a seat at a table that waits for anybody, or a new table that waits."""

from typing import NamedTuple

from services.core.commands import Issued
from services.core.errors import AlreadySeated, LimitReached, NoSuchMatch, Overloaded, TableClosed, TableFull
from services.core.ids import MatchId
from services.lobby.commands import CreateTable, TakeSeat, fingerprint
from services.lobby.decide import Completed
from services.lobby.desk import Carried, Desk
from services.lobby.ids import Ids
from services.lobby.intents import Intents, QuickRequest
from services.lobby.opening import Opening
from services.lobby.titles import Titles
from services.lobby.waiting import Kind, Waiting, kind_of

GOALS_MAX = 32  # tables that one request goes for before it gives up


class QuickParts(NamedTuple):
    """What a search works with."""

    desk: Desk
    opening: Opening
    titles: Titles
    ids: Ids
    waiting: Waiting
    intents: Intents


async def quick_match(parts: QuickParts, wish: CreateTable, issued: Issued) -> Carried:
    """The player of `issued` seated; the same request again finds the same seat.

    Raises RequestIdReused, OptionInvalid, Overloaded, and what `Titles` raises.
    """
    search = Search(parts, wish, issued)
    return await search.resumed() or await search.searched()


class Search:
    """One request on its way from table to table."""

    def __init__(self, parts: QuickParts, wish: CreateTable, issued: Issued) -> None:
        assert issued.player is not None, "a quick match seats a player"
        self._parts = parts
        self._wish = wish
        self._issued = issued
        self._request = QuickRequest(issued.player, issued.request_id, fingerprint(wish))
        self._own = parts.ids.table(issued.player, "quick", issued.request_id)
        self._goal: MatchId | None = None  # as it stands in the intents
        self._goals = 0

    async def resumed(self) -> Carried | None:
        """What an earlier copy of this request got; None if there was none, or it got nowhere."""
        self._goal = await self._parts.intents.goal(self._request)
        if self._goal is None:
            return None
        return await self._reach(self._goal, None)

    async def searched(self) -> Carried:
        wish = self._wish
        completed = await self._parts.titles.complete(wish.title, wish.options, wish.seats, self._own)
        kind = kind_of(wish.title, completed.options, completed.seats, wish.clock)
        found = await self._seat_that_waits(kind)
        if found is not None:
            return found
        async with self._parts.waiting.turn(kind):
            return await self._seat_that_waits(kind) or await self._opened(completed)

    async def _seat_that_waits(self, kind: Kind) -> Carried | None:
        for match in await self._parts.waiting.oldest(kind):
            found = await self._go_for(match, None)
            if found is not None:
                return found
            await self._parts.waiting.forget(kind, match)
        return None

    async def _opened(self, completed: Completed) -> Carried:
        found = await self._go_for(self._own, completed)
        assert found is not None, "one's own table is always to be had"
        return found

    async def _go_for(self, match: MatchId, completed: Completed | None) -> Carried | None:
        """A seat at `match`, or where another copy of this request has gone meanwhile."""
        while True:
            self._goals += 1
            if self._goals > GOALS_MAX:
                raise Overloaded("the quick match", GOALS_MAX, 1)
            self._goal = await self._parts.intents.aim(self._request, self._goal, match)
            found = await self._reach(self._goal, completed)
            if found is not None or self._goal == match:
                return found

    async def _reach(self, match: MatchId, completed: Completed | None) -> Carried | None:
        """The seat at the goal; None when there is none to be had."""
        if match == self._own:
            return await self._open(completed)
        try:
            carried = await self._parts.desk.carry_out(match, TakeSeat(nonce=self._wish.nonce), self._issued)
        except AlreadySeated as seated:  # who asks twice waits once
            return Carried(await self._parts.desk.find(match), seated.seat)
        except (TableFull, TableClosed, LimitReached, NoSuchMatch):
            return None
        if carried.table.is_full:
            await self._parts.waiting.remove(carried.table)
        return carried

    async def _open(self, completed: Completed | None) -> Carried:
        table = await self._parts.opening.open(self._own, self._wish, self._issued, completed)
        if table.status == "open" and not table.is_full:
            await self._parts.waiting.add(table)
        return Carried(table, table.seat_of(table.host))
