"""The parts of a worker, put together. Who owns connections and tasks is `services.rules.__main__`."""

from collections.abc import Callable

from services.kit.store import EventStore
from services.rules.archive import Archive
from services.rules.desk import Desk
from services.rules.flags import Flags
from services.rules.ledger import Ledger
from services.rules.library import Library
from services.rules.news import News
from services.rules.published import Published
from services.rules.reads import Reads
from services.rules.servicer import Servicer
from services.rules.shelf import Shelf
from services.rules.start import Starter


class Worker:
    """One title on one store. `publish`: told of every event stored. `newest`: see `Starter`."""

    def __init__(
        self,
        library: Library,
        store: EventStore,
        publish: Callable[[News], None],
        newest: Callable[[], int],
        room: int,
    ) -> None:
        self.shelf = Shelf(room)
        self.archive = Archive(library, store, self.shelf)
        ledger = Ledger(library.slug, store, self.shelf, publish)
        self.starter = Starter(self.archive, store, ledger, newest)
        self.desk = Desk(self.archive, ledger)
        self.reads = Reads(self.archive)
        self.published = Published(self.archive)
        self.flags = Flags(library.slug, self.archive, self.desk, store)
        self.servicer = Servicer(library, self.starter, self.desk, self.reads, self.published)
