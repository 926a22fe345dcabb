"""What every event store must do; each test runs against each store."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest

from services.core.errors import HistoryForked, VersionConflict
from services.core.ids import MatchId, StreamName, match_stream, table_stream
from services.kit.memory_store import MemoryStore
from services.kit.redis_keys import stream_key
from services.kit.redis_store import RedisStore
from services.kit.store import CLEAR, PAGE, After, EventStore, Published
from tests.kit.writer import Writer

pytestmark = pytest.mark.anyio


@dataclass
class Rig:
    """A store under test, a second client of it, and a way to lose the last entry, as a crash may."""

    store: EventStore
    rival: EventStore
    lose_tail: Callable[[StreamName], Awaitable[None]]


@pytest.fixture(params=["memory", "redis"])
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    if request.param == "memory":
        yield _memory_rig()
        return
    url = request.getfixturevalue("valkey_url")
    store, rival = await RedisStore.open(url), await RedisStore.open(url)
    yield Rig(store, rival, lambda stream: _lose_redis_tail(store, stream))
    await store.close()
    await rival.close()


def _memory_rig() -> Rig:
    store = MemoryStore()

    async def lose_tail(stream: StreamName) -> None:
        store._streams[stream].pop()

    return Rig(store, store, lose_tail)


async def _lose_redis_tail(store: RedisStore, stream: StreamName) -> None:
    # Deleting the last entry is not enough: Redis would still refuse its id, unlike after a real loss.
    *kept, _ = await store.read(stream)
    await store.link.call("DEL", stream_key(stream))
    for entry in kept:
        await store.link.call(
            "XADD", stream_key(stream), f"{entry.version}-0", "e", entry.body, "h", entry.hash
        )


@pytest.fixture
def store(rig: Rig) -> EventStore:
    return rig.store


@pytest.fixture
def match(new_match: Callable[[], MatchId]) -> MatchId:
    return new_match()


@pytest.fixture
def writer(match: MatchId, new_owner: Callable[[], str]) -> Writer:
    return Writer(match_stream(match), new_owner())


# Streams.


async def test_entries_are_read_as_they_were_written(store: EventStore, writer: Writer) -> None:
    written = await writer.write(store, 3)
    assert await store.read(writer.stream) == written


async def test_bytes_of_every_value_survive(store: EventStore, writer: Writer) -> None:
    append = writer.following()
    entry = type(append.entry)(1, bytes(range(256)) + b"\r\n$5\r\n", bytes(range(32)))
    await store.append(writer.following(entry=entry))
    assert await store.read(writer.stream) == [entry]


async def test_an_unknown_stream_is_empty_and_has_head_0(store: EventStore, writer: Writer) -> None:
    assert await store.read(writer.stream) == []
    assert await store.heads([writer.stream]) == [0]
    assert await store.read_many([After(writer.stream)]) == [[]]


async def test_a_read_ends_where_it_was_told_to(store: EventStore, writer: Writer) -> None:
    written = await writer.write(store, 6)
    assert await store.read(writer.stream, after=2) == written[2:]
    assert await store.read(writer.stream, after=1, until=4) == written[1:4]
    assert await store.read(writer.stream, after=1, limit=2) == written[1:3]
    assert await store.read(writer.stream, after=6) == []
    assert await store.read(writer.stream, after=4, until=4) == []


async def test_a_stream_of_several_pages_is_read_whole(store: EventStore, writer: Writer) -> None:
    written = await writer.write(store, 2 * PAGE + 1)
    assert await store.read(writer.stream) == written
    assert await store.read(writer.stream, limit=PAGE + 1) == written[: PAGE + 1]
    assert await store.read(writer.stream, until=2 * PAGE) == written[: 2 * PAGE]


async def test_many_tails_and_heads_come_in_the_order_asked(store: EventStore, writer: Writer) -> None:
    other = Writer(table_stream(MatchId(f"{writer.stream[6:]}x")), writer.owner)
    written, others = await writer.write(store, 3), await other.write(store, 2)
    tails = [After(other.stream, 1), After(writer.stream), After(writer.stream, 3)]
    assert await store.read_many(tails, limit=2) == [others[1:], written[:2], []]
    assert await store.heads([other.stream, writer.stream]) == [2, 3]
    assert await store.read_many([]) == []


async def test_more_heads_than_one_trip_holds_come_in_the_order_asked(
    store: EventStore, writer: Writer
) -> None:
    await writer.write(store, 2)
    strangers = [StreamName(f"match/stranger{number}") for number in range(600)]
    assert await store.heads([*strangers, writer.stream]) == [0] * 600 + [2]


async def test_a_match_and_its_table_have_versions_of_their_own(
    store: EventStore, writer: Writer, match: MatchId
) -> None:
    await writer.write(store, 2)
    await Writer(table_stream(match), writer.owner).write(store, 1)
    assert await store.heads([match_stream(match), table_stream(match)]) == [2, 1]


async def test_streams_lists_each_stream_that_has_begun(
    store: EventStore, writer: Writer, match: MatchId
) -> None:
    await writer.write(store, 2)
    await Writer(table_stream(match), writer.owner).write(store)
    listed = [stream async for stream in store.streams() if stream.endswith(match)]
    assert sorted(listed) == [match_stream(match), table_stream(match)]


# Who may append.


@pytest.mark.parametrize("ahead", [1, 4])
async def test_a_stale_version_is_refused_with_both_numbers(
    store: EventStore, writer: Writer, ahead: int
) -> None:
    await writer.write(store, 2)
    stale = writer.following("stale")
    await writer.write(store, ahead)
    with pytest.raises(VersionConflict) as refusal:
        await store.append(stale)
    assert refusal.value.facts == {"expected": 2, "actual": 2 + ahead}


async def test_a_second_version_1_is_refused(store: EventStore, writer: Writer) -> None:
    rival = writer.following("rival")
    await writer.write(store)
    with pytest.raises(VersionConflict):
        await store.append(rival)


async def test_a_stale_writer_stores_nothing_at_all(store: EventStore, writer: Writer) -> None:
    stale = writer.following("stale", seed=b"s" * 32, deadline=1, at=1)
    written = await writer.write(store, 2, seed=b"k" * 32, deadline=5_000)
    with pytest.raises(VersionConflict):
        await store.append(stale)
    match = MatchId(writer.stream.partition("/")[2])
    assert await store.read(writer.stream) == written
    assert await store.seed(match) == b"k" * 32
    assert await store.deadlines_due(writer.owner, 4_999, 10) == []
    assert await store.deadlines_due(writer.owner, 5_000, 10) == [match]
    assert await store.outbox_due(writer.owner, 1_001, 10) == []
    assert len(await store.outbox_due(writer.owner, 9_999, 10)) == 2


async def test_a_writer_that_folded_another_entry_is_told_of_the_fork(
    rig: Rig, writer: Writer, new_owner: Callable[[], str]
) -> None:
    await writer.write(rig.store, 2)
    other = Writer(writer.stream, new_owner())
    for entry in (await rig.store.read(writer.stream))[:1]:
        other.follow(entry)
    await rig.lose_tail(writer.stream)
    await other.write(rig.rival, text="instead")
    with pytest.raises(HistoryForked) as refusal:
        await rig.store.append(writer.following())
    assert refusal.value.facts == {"stream": writer.stream, "version": 2, "actual": 2}
    assert await rig.store.heads([writer.stream]) == [2]


async def test_a_writer_ahead_of_a_lost_tail_is_told_of_the_fork(rig: Rig, writer: Writer) -> None:
    await writer.write(rig.store, 3)
    await rig.lose_tail(writer.stream)
    with pytest.raises(HistoryForked) as refusal:
        await rig.store.append(writer.following())
    assert refusal.value.facts == {"stream": writer.stream, "version": 3, "actual": 2}
    assert await rig.store.heads([writer.stream]) == [2]


async def test_of_two_stores_that_race_each_version_has_one_winner(rig: Rig, writer: Writer) -> None:
    rivals = [(rig.store, "a"), (rig.rival, "b"), (rig.store, "c"), (rig.rival, "d")]
    successes: list[tuple[int, bytes]] = []
    conflicts = 0

    async def race(store: EventStore, name: str) -> None:
        nonlocal conflicts
        mine = Writer(writer.stream, writer.owner)
        while mine.version < 500:
            append = mine.following(name)
            try:
                await store.append(append)
            except VersionConflict as conflict:
                conflicts += 1
                mine.follow((await store.read(writer.stream, after=conflict.actual - 1))[-1])
            else:
                successes.append((append.entry.version, append.entry.body))
                mine.follow(append.entry)
                await asyncio.sleep(0)

    async with asyncio.timeout(60), asyncio.TaskGroup() as racers:
        for rival in rivals:
            racers.create_task(race(*rival))
    stored = [(entry.version, entry.body) for entry in await rig.store.read(writer.stream)]
    assert sorted(successes) == stored
    assert [version for version, _ in stored] == list(range(1, len(stored) + 1))
    assert len(stored) >= 500
    assert conflicts > 0


# What becomes true with an append.


async def test_the_seed_comes_with_version_1_only(store: EventStore, writer: Writer, match: MatchId) -> None:
    assert await store.seed(match) is None
    await writer.write(store, seed=bytes(range(32)))
    await writer.write(store, seed=b"x" * 32)
    assert await store.seed(match) == bytes(range(32))


async def test_a_match_without_a_seed_has_none(store: EventStore, writer: Writer, match: MatchId) -> None:
    await writer.write(store)
    assert await store.seed(match) is None


async def test_an_append_sets_keeps_moves_and_clears_the_deadline(
    store: EventStore, writer: Writer, match: MatchId
) -> None:
    async def due_at(now_ms: int) -> list[MatchId]:
        return await store.deadlines_due(writer.owner, now_ms, 10)

    await writer.write(store, deadline=5_000)
    await writer.write(store)
    assert (await due_at(4_999), await due_at(5_000)) == ([], [match])
    await writer.write(store, deadline=8_000)
    assert (await due_at(7_999), await due_at(8_000)) == ([], [match])
    await writer.write(store, deadline=CLEAR)
    assert await due_at(99_999) == []


async def test_a_deadline_can_be_set_and_cleared_without_an_append(
    store: EventStore, match: MatchId, new_owner: Callable[[], str]
) -> None:
    owner, other = new_owner(), new_owner()
    await store.set_deadline(owner, match, 700)
    await store.set_deadline(owner, match, 300)
    assert await store.deadlines_due(owner, 300, 10) == [match]
    assert await store.deadlines_due(other, 300, 10) == []
    await store.clear_deadline(owner, match)
    await store.clear_deadline(owner, match)
    assert await store.deadlines_due(owner, 999, 10) == []


async def test_no_more_deadlines_come_than_asked_for(
    store: EventStore, new_match: Callable[[], MatchId], new_owner: Callable[[], str]
) -> None:
    owner, matches = new_owner(), {new_match() for _ in range(40)}
    for match in matches:
        await store.set_deadline(owner, match, 100)
    some = await store.deadlines_due(owner, 100, 7)
    assert len(some) == len(set(some)) == 7
    assert set(some) < matches
    assert set(await store.deadlines_due(owner, 100, 10_000)) == matches


async def test_the_outbox_holds_each_entry_until_it_is_done(store: EventStore, writer: Writer) -> None:
    first, second, third = (Published(writer.stream, version) for version in (1, 2, 3))
    await writer.write(store, 3)
    assert set(await store.outbox_due(writer.owner, 1_003, 10)) == {first, second}
    await store.outbox_done(writer.owner, [first, third, Published(writer.stream, 99)])
    assert await store.outbox_due(writer.owner, 9_999, 10) == [second]
    await store.outbox_done(writer.owner, [])
    await store.outbox_done(writer.owner, [second])
    assert await store.outbox_due(writer.owner, 9_999, 10) == []


async def test_an_outbox_belongs_to_its_owner(
    store: EventStore, writer: Writer, new_owner: Callable[[], str]
) -> None:
    await writer.write(store)
    assert await store.outbox_due(new_owner(), 9_999, 10) == []


async def test_no_more_of_the_outbox_comes_than_asked_for(store: EventStore, writer: Writer) -> None:
    await writer.write(store, 60)
    some = await store.outbox_due(writer.owner, 9_999, 5)
    assert 0 < len(some) <= 5
    assert len(await store.outbox_due(writer.owner, 9_999, 10_000)) == 60
