"""What never changes about a match: title, seats, whether it is private. Learnt from its table."""

import re
from collections import OrderedDict

from msgspec import Struct
from waystation.lobby.v1 import lobby_pb2

from gateway.peers import Lobby
from services.core.errors import NoSuchMatch, NotSeated, NotStarted
from services.core.ids import MatchId, PlayerId, Slug

PLACES_MAX = 50_000
_MATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Place(Struct, frozen=True):
    """A match that has begun. `seats`: player -> seat."""

    match: MatchId
    title: Slug
    private: bool
    seats: dict[PlayerId, int]

    def seat_of(self, player: PlayerId | None) -> int | None:
        return None if player is None else self.seats.get(player)


class Places:
    """Places by match id, at most PLACES_MAX; the one unused for longest is forgotten."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._known: OrderedDict[MatchId, Place] = OrderedDict()

    async def find(self, match: MatchId) -> Place | lobby_pb2.Table:
        """The place, or the table where none has begun yet. Raises NoSuchMatch."""
        if (place := self._known.get(match)) is not None:
            self._known.move_to_end(match)
            return place
        table = (await self._table(match)).table
        if table.status != lobby_pb2.TABLE_STATUS_SEALED:
            return table
        return self.learn(table)

    async def begun(self, match: MatchId) -> Place:
        """The place. Raises NotStarted while its table is open, NoSuchMatch."""
        found = await self.find(match)
        if not isinstance(found, Place):
            raise NotStarted
        return found

    def learn(self, table: lobby_pb2.Table) -> Place:
        """Keeps what a sealed table says: it cannot change any more."""
        place = Place(
            match=MatchId(table.match),
            title=Slug(table.title),
            private=table.private,
            seats={PlayerId(taken.player): taken.seat for taken in table.taken},
        )
        self._known[place.match] = place
        while len(self._known) > PLACES_MAX:
            self._known.popitem(last=False)
        return place

    async def admit(self, place: Place, player: PlayerId | None, invite: str) -> bool:
        """Whether the reader watches by invitation. Raises NotSeated for a stranger at a private match."""
        if not place.private or place.seat_of(player) is not None:
            return False
        if invite and (await self._table(place.match, invite)).invited:
            return True
        raise NotSeated

    async def table_for(self, match: MatchId, player: PlayerId | None, invite: str) -> lobby_pb2.Table:
        """The table as it is now, for whoever may see it. Raises NoSuchMatch, NotSeated."""
        found = await self._table(match, invite)
        table = found.table
        is_seated = any(taken.player == player for taken in table.taken)
        if table.private and not is_seated and not found.invited:
            raise NotSeated
        return table

    async def _table(self, match: MatchId, invite: str = "") -> lobby_pb2.GetTableResponse:
        if not _MATCH_ID.fullmatch(match):
            raise NoSuchMatch(match)
        return await self._lobby.table(match, invite)
