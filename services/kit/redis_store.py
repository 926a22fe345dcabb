"""The event store in Redis: all keys of a match lie in one slot and are written by one function."""

from collections.abc import AsyncIterator, Sequence
from typing import Self, cast

from services.core.errors import HistoryCorrupt
from services.core.events import Entry
from services.core.ids import MatchId, StreamName
from services.kit import tracing
from services.kit.redis_append import append_command, raise_unless_appended
from services.kit.redis_keys import (
    deadlines_key,
    outbox_key,
    outbox_member,
    published,
    seed_key,
    stream_key,
    streams_key,
)
from services.kit.redis_library import Library, is_missing, refuse_unsafe
from services.kit.redis_link import TRIP_COMMANDS_MAX, TRIP_S_MAX, RedisLink
from services.kit.redis_resp import RedisRefused, Reply, command, settled
from services.kit.store import PAGE, PARTITIONS, After, Append, Owner, Published, partition, stream_partition

_SCAN = 1000


class RedisStore:
    """An EventStore. One connection serves the whole process; see `RedisLink` for how it is shared."""

    def __init__(self, link: RedisLink) -> None:
        self.link = link
        self._library = Library(link)

    @classmethod
    async def open(
        cls, url: str, *, unsafe: bool = False, replicas: int = 0, trip_s_max: float = TRIP_S_MAX
    ) -> Self:
        """A store on the Redis at `url`, ready for use; `replicas`: see `RedisLink`.

        Raises UnsafeRedis unless that Redis is safe or `unsafe` is allowed, StoreUnavailable if it does not
        answer, ValueError for a URL that is none.
        """
        store = cls(RedisLink(url, replicas=replicas, trip_s_max=trip_s_max))
        try:
            if not unsafe:
                await refuse_unsafe(store.link)
            await store._library.ensure()
        except BaseException:
            await store.close()
            raise
        return store

    @classmethod
    def reading(cls, url: str) -> Self:
        """A store on the Redis at `url` for who only reads: it puts nothing there, no functions either.

        Connects when first used. Raises ValueError for a URL that is none.
        """
        return cls(RedisLink(url))

    async def close(self) -> None:
        await self.link.close()

    async def append(self, append: Append) -> None:
        payload = append_command(append)
        loads = self._library.loads
        with tracing.span("redis append", "client", version=append.entry.version):
            (reply,) = await self.link.ask(payload)
            if is_missing(reply):
                await self._library.load(seen=loads)
                (reply,) = await self.link.ask(payload)
            raise_unless_appended(append, cast(int, settled(reply)))

    async def read(
        self, stream: StreamName, after: int = 0, until: int | None = None, limit: int | None = None
    ) -> list[Entry]:
        entries: list[Entry] = []
        with tracing.span("redis read", "client"):
            while True:
                asked = PAGE if limit is None else min(PAGE, limit - len(entries))
                (reply,) = await self.link.ask(_range(stream, after, until, asked))
                if _is_of_another_kind(reply):
                    raise HistoryCorrupt(stream, 1, "its key holds no stream")
                page = _entries(reply)
                entries += page
                if len(page) < asked or len(entries) == limit:
                    return entries
                after = page[-1].version

    async def read_many(self, tails: Sequence[After], limit: int = PAGE) -> list[list[Entry]]:
        replies = await self._replies([_range(tail.stream, tail.version, None, limit) for tail in tails])
        return [_entries(reply) for reply in replies]

    async def heads(self, streams: Sequence[StreamName]) -> list[int]:
        replies = await self._replies(
            [command("XREVRANGE", stream_key(stream), "+", "-", "COUNT", 1) for stream in streams]
        )
        return [entries[0].version if (entries := _entries(reply)) else 0 for reply in replies]

    async def seed(self, match: MatchId) -> bytes | None:
        (reply,) = await self.link.ask(command("GET", seed_key(match)))
        return None if _is_of_another_kind(reply) else cast("bytes | None", settled(reply))

    async def outbox_due(self, owner: Owner, before_ms: int, limit: int) -> list[Published]:
        keys = [outbox_key(number, owner) for number in range(PARTITIONS)]
        return [published(member) for member in await self._due(keys, f"({before_ms}", limit)]

    async def outbox_done(self, owner: Owner, entries: Sequence[Published]) -> None:
        members: dict[int, list[str]] = {}
        for entry in entries:
            members.setdefault(stream_partition(entry.stream), []).append(outbox_member(entry))
        await self._ask_all(
            [command("ZREM", outbox_key(number, owner), *gone) for number, gone in members.items()]
        )

    async def deadlines_due(self, owner: Owner, now_ms: int, limit: int) -> list[MatchId]:
        keys = [deadlines_key(number, owner) for number in range(PARTITIONS)]
        return [MatchId(member.decode()) for member in await self._due(keys, str(now_ms), limit)]

    async def set_deadline(self, owner: Owner, match: MatchId, deadline_ms: int) -> None:
        await self._ask_all([command("ZADD", deadlines_key(partition(match), owner), deadline_ms, match)])

    async def clear_deadline(self, owner: Owner, match: MatchId) -> None:
        await self._ask_all([command("ZREM", deadlines_key(partition(match), owner), match)])

    async def streams(self) -> AsyncIterator[StreamName]:
        for number in range(PARTITIONS):
            cursor = b"0"
            while True:
                (reply,) = await self.link.ask(command("SSCAN", streams_key(number), cursor, "COUNT", _SCAN))
                cursor, names = cast("tuple[bytes, list[bytes]]", settled(reply))
                for name in names:
                    yield StreamName(name.decode())
                if cursor == b"0":
                    break

    async def _ask_all(self, commands: Sequence[bytes]) -> list[Reply]:
        return [settled(reply) for reply in await self._replies(commands)]

    async def _replies(self, commands: Sequence[bytes]) -> list[Reply]:
        """The replies to `commands`, sent as one parcel, or as several if one trip cannot hold them."""
        replies: list[Reply] = []
        for start in range(0, len(commands), TRIP_COMMANDS_MAX):
            parcel = commands[start : start + TRIP_COMMANDS_MAX]
            replies += await self.link.ask(b"".join(parcel), len(parcel))
        return replies

    async def _due(self, keys: Sequence[str], until: str, limit: int) -> list[bytes]:
        """Members of the sorted sets with scores up to `until`, from all of them evenly, at most `limit`."""
        # Keeps the replies to some thousands in all when every partition has a long backlog.
        share = min(limit, max(32, limit // 16))
        replies = await self._ask_all(
            [command("ZRANGEBYSCORE", key, "-inf", until, "LIMIT", 0, share) for key in keys]
        )
        return [member for reply in replies for member in cast("list[bytes]", reply)][:limit]


def _range(stream: StreamName, after: int, until: int | None, count: int) -> bytes:
    end = "+" if until is None else f"{until}-0"
    return command("XRANGE", stream_key(stream), f"({after}-0", end, "COUNT", count)


def _entries(reply: Reply) -> list[Entry]:
    if _is_of_another_kind(reply):  # one among many, who must not wait for it
        return []
    return [_entry(id_, fields) for id_, fields in cast("list[tuple[bytes, list[bytes]]]", settled(reply))]


def _entry(id_: bytes, fields: list[bytes]) -> Entry:
    """One of another form than ours gets no hash, so that the chain breaks at its version."""
    version, _, rest = id_.partition(b"-")
    if rest == b"0" and len(fields) == 4 and fields[0] == b"e" and fields[2] == b"h":
        return Entry(int(version), fields[1], fields[3])
    return Entry(int(version), b"", b"")


def _is_of_another_kind(reply: Reply) -> bool:
    """Whether somebody has put something else under the key: that is damage, and no outage."""
    return isinstance(reply, RedisRefused) and reply.code == "WRONGTYPE"
