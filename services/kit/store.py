"""The port to the event store: streams of entries, an outbox and deadlines, changed together or not at all.

`redis_store.RedisStore` keeps promises over restarts; `memory_store.MemoryStore` is for tests. Both
pass tests/kit/test_store.py. Every method of a store may raise StoreUnavailable or Overloaded.
"""

from collections.abc import AsyncIterator, Sequence
from hashlib import blake2b
from typing import NamedTuple, Protocol

from msgspec import Struct

from services.core.events import Entry
from services.core.ids import MatchId, Slug, StreamName, stream_match

Owner = str  # a title's slug, or LOBBY: who publishes a stream's events and watches its deadlines
LOBBY: Owner = "lobby"

# Storage format: changing the number, or `partition`, moves every key.
PARTITIONS = 256

PAGE = 500  # entries asked of Redis at once: some 200 kB, parsed in a few ms

CLEAR = 0  # as an append's `deadline`: the match has none any more


class Append(Struct, frozen=True, kw_only=True):
    """One entry and everything that becomes true with it.

    `expected_version`, `expected_hash`: the head that the writer has folded up to (0 and any bytes for
    a new stream). `at`: UTC ms, when the outbox entry was made. `deadline`: UTC ms; None keeps the
    match's deadline as it is, CLEAR removes it. `seed`: kept beside the stream, with version 1 only.
    """

    stream: StreamName
    entry: Entry
    expected_version: int
    expected_hash: bytes
    owner: Owner | Slug
    at: int
    deadline: int | None = None
    seed: bytes | None = None


class Published(NamedTuple):
    """An entry by name, as it stands in the outbox until the bus has it."""

    stream: StreamName
    version: int


class After(NamedTuple):
    """What a reader lacks of a stream: the entries after `version`."""

    stream: StreamName
    version: int = 0


class EventStore(Protocol):
    """Streams whose versions are 1, 2, 3 ... without a gap and without a fork."""

    async def append(self, append: Append) -> None:
        """Stores the entry, or nothing at all.

        Raises VersionConflict when the stream has gone on; HistoryForked when it does not hold the head
        that the writer folded (refold from the stream); StoreUnavailable when the outcome is unknown
        (read again, then decide).
        """

    async def read(
        self, stream: StreamName, after: int = 0, until: int | None = None, limit: int | None = None
    ) -> list[Entry]:
        """The entries with after < version <= until, in order; at most `limit` (1 or more) of them.

        Empty for no such stream.
        """

    async def read_many(self, tails: Sequence[After], limit: int = PAGE) -> list[list[Entry]]:
        """For each tail its first `limit` entries; one trip for 256 tails."""

    async def heads(self, streams: Sequence[StreamName]) -> list[int]:
        """The last version of each stream, 0 for no such stream; one trip for 256 streams."""

    async def seed(self, match: MatchId) -> bytes | None:
        """The match's secret, 32 bytes; None when it has none."""

    async def outbox_due(self, owner: Owner, before_ms: int, limit: int) -> list[Published]:
        """At most `limit` entries not known to be on the bus and stored before `before_ms`."""

    async def outbox_done(self, owner: Owner, entries: Sequence[Published]) -> None:
        """Forgets the outbox's `entries`: the bus has them."""

    async def deadlines_due(self, owner: Owner, now_ms: int, limit: int) -> list[MatchId]:
        """At most `limit` matches whose deadline is `now_ms` or earlier."""

    async def set_deadline(self, owner: Owner, match: MatchId, deadline_ms: int) -> None:
        """Replaces the match's deadline."""

    async def clear_deadline(self, owner: Owner, match: MatchId) -> None:
        """Removes the match's deadline if it has one."""

    def streams(self) -> AsyncIterator[StreamName]:
        """Every stream there is; one that begins meanwhile may be missing, and one may come twice."""


def partition(match: MatchId) -> int:
    """Where a match and its table live, 0 to 255: the same in every process and release."""
    return blake2b(match.encode(), digest_size=1).digest()[0]


def stream_partition(stream: StreamName) -> int:
    """The partition of the match that `stream` belongs to."""
    return partition(stream_match(stream))
