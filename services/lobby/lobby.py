"""The parts of a lobby, put together. Who owns connections and tasks is `services.lobby.__main__`."""

from collections.abc import Callable

from redis.asyncio import Redis

from services.kit.cache import Room
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.store import EventStore
from services.lobby.desk import Desk, Stored
from services.lobby.hosts import Hosts
from services.lobby.ids import Ids
from services.lobby.intents import Intents
from services.lobby.opening import Opening
from services.lobby.published import Published
from services.lobby.quick import QuickParts
from services.lobby.servicer import Servicer
from services.lobby.starter import Starter
from services.lobby.sweeper import Sweeper
from services.lobby.titles import Titles
from services.lobby.waiting import Waiting


class Lobby:
    """All tables on one store. `publish`: told of every event stored.

    `room`: for tables kept folded. `open_tables`: how many one player may host at a time.
    """

    def __init__(
        self,
        store: EventStore,
        redis: Redis,
        directory: Directory,
        channels: Channels,
        ids: Ids,
        publish: Callable[[Stored], None],
        room: Room,
        open_tables: int,
    ) -> None:
        titles = Titles(directory, channels)
        waiting = Waiting(redis)
        self.desk = Desk(store, publish, room)
        self.published = Published(store)
        starter = Starter(self.desk, store, titles)
        opening = Opening(self.desk, titles, ids, Hosts(redis, self.desk, open_tables))
        quick = QuickParts(self.desk, opening, titles, ids, waiting, Intents(redis))
        self.sweeper = Sweeper(store, self.desk, starter, waiting)
        self.servicer = Servicer(self.desk, opening, starter, ids, quick, self.published)
