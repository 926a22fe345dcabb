"""What never changes about a match: title, seats, whether it is private. Learnt from its table."""

import re

from msgspec import Struct
from waystation.lobby.v1 import lobby_pb2

from gateway.callers import Reader
from gateway.guesses import Guesses
from gateway.peers import Lobby
from services.core.errors import NoSuchMatch, NotSeated, NotStarted
from services.core.ids import MatchId, PlayerId, Slug
from services.kit.cache import Cache, Room

PLACES_BYTES_MAX = 48 * 1024 * 1024
PLACE_BYTES, SEAT_BYTES = 500, 200  # in memory, measured
MATCH_ID = "[A-Za-z0-9_-]{1,64}"


class Place(Struct, frozen=True):
    """A match that has begun. `seats`: player -> seat."""

    match: MatchId
    title: Slug
    private: bool
    seats: dict[PlayerId, int]

    def seat_of(self, player: PlayerId | None) -> int | None:
        return None if player is None else self.seats.get(player)


class Places:
    """Places by match id, at most `number`; the one unused for longest is forgotten."""

    def __init__(self, lobby: Lobby, guesses: Guesses, number: int) -> None:
        self._lobby = lobby
        self._guesses = guesses
        self._known: Cache[MatchId, Place] = Cache(Room(values=number, bytes=PLACES_BYTES_MAX))

    async def find(self, match: MatchId) -> Place | lobby_pb2.Table:
        """The place, or the table where none has begun yet. Raises NoSuchMatch."""
        if (place := self._known.find(match)) is not None:
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
        self._known.keep(place.match, place, PLACE_BYTES + SEAT_BYTES * len(place.seats))
        return place

    async def admit(self, place: Place, reader: Reader) -> bool:
        """Whether the reader watches by invitation.

        Raises NotSeated for a stranger at a private match, TooManyRequests for one who guesses on.
        """
        if not place.private or place.seat_of(reader.player) is not None:
            return False
        if not reader.invite:
            raise NotSeated
        await self.table_for(place.match, reader)
        return True

    async def table_for(self, match: MatchId, reader: Reader) -> lobby_pb2.Table:
        """The table as it is now, for whoever may see it. Raises NoSuchMatch, NotSeated, TooManyRequests."""
        if not reader.invite:
            return await self._shown(match, reader)
        with self._guesses.one(reader.address, reader.player):
            return await self._shown(match, reader)

    async def _shown(self, match: MatchId, reader: Reader) -> lobby_pb2.Table:
        found = await self._table(match, reader.invite)
        table = found.table
        is_seated = any(taken.player == reader.player for taken in table.taken)
        if table.private and not is_seated and not found.invited:
            raise NotSeated
        return table

    async def _table(self, match: MatchId, invite: str = "") -> lobby_pb2.GetTableResponse:
        if not re.fullmatch(MATCH_ID, match):
            raise NoSuchMatch(match)
        return await self._lobby.table(match, invite)
