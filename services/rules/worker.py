"""The parts of a worker, put together and connected to the world."""

from collections.abc import Callable

from prometheus_client import Gauge

from services.core.ids import Slug
from services.kit.bus import Bus
from services.kit.busy import BUSY
from services.kit.cache import Room
from services.kit.relay import Relay
from services.kit.store import EventStore
from services.rules.archive import Archive
from services.rules.desk import Desk
from services.rules.flags import Flags
from services.rules.ledger import Ledger
from services.rules.library import Library
from services.rules.live import Live
from services.rules.press import Press
from services.rules.published import Published
from services.rules.reads import Reads
from services.rules.servicer import Servicer
from services.rules.shelf import Shelf
from services.rules.start import Starter

MATCHES_ACTIVE = Gauge("matches_active", "Matches kept folded by this worker", ["title"])
MATCHES_BYTES = Gauge("matches_active_bytes", "About how much memory those matches take", ["title"])


class Worker:
    """One title on one store. `newest`: see `Starter`. `room`: for matches kept folded."""

    def __init__(
        self, library: Library, store: EventStore, bus: Bus, newest: Callable[[], int], room: Room
    ) -> None:
        self._title = slug = Slug(library.slug)
        self._shelf = shelf = Shelf(room)
        MATCHES_ACTIVE.labels(slug).set_function(lambda: len(shelf))
        MATCHES_BYTES.labels(slug).set_function(lambda: shelf.weight)
        archive = Archive(library, store, shelf)
        published = Published(archive)
        self._relay = Relay(bus, store, slug, published.payload)
        live = Live()
        ledger = Ledger(slug, store, shelf, Press(live, self._relay).tell)
        desk = Desk(archive, ledger)
        self._flags = Flags(slug, archive, desk, store)
        starter = Starter(archive, store, ledger, newest)
        self.servicer = Servicer(library, starter, desk, Reads(archive), published, live)

    def start(self) -> None:
        """Begins what a worker does unasked: publishing, looking for flags that fall, forgetting."""
        BUSY.watch(self._title)
        for part in (self._relay, self._flags, self._shelf):
            part.start()

    async def stop(self) -> None:
        """Publishes what is left, as far as that is soon done."""
        for part in (self._shelf, self._flags, self._relay):
            await part.stop()
