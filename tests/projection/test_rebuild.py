import asyncio
from collections import defaultdict
from math import ceil

import pytest
from structlog.testing import capture_logs

from services.core.errors import HistoryCorrupt, NoSuchMatch, RebuildUnderWay, ServiceDown, TitleDown
from services.core.ids import match_stream, table_stream
from services.kit.memory_store import MemoryStore
from services.kit.store import Append
from services.projection import waits
from services.projection.follow import Follower
from services.projection.generations import Claim
from services.projection.rebuild import PAGES_AT_ONCE, TABLES_AT_ONCE, rebuild
from services.projection.waits import Waits
from tests.core.matches import Table
from tests.projection.published import gathered, played
from tests.rules.hosting import sit_down

pytestmark = pytest.mark.anyio

PAGE = 3


async def nothing_missing(title, stream, after):
    raise AssertionError(f"asked for {stream} after {after}")


class Owners:
    """Those who tell of streams again, matches in pages of PAGE events. `silent`: none does any more.

    `asked`: the versions that each match was asked for the events after. `damages`: what they raise for a
    stream, once they are asked for events beyond the version.
    """

    def __init__(self, events):
        self.events = events
        self.silent = asyncio.Event()
        self.damages = {}
        self.asked = defaultdict(list)
        self.asking = self.asking_max = 0

    async def missing(self, title, stream, after):
        if self.silent.is_set():
            raise TitleDown(title, "no live worker")
        readable, error = self.damages.get(stream, (0, None))
        if error and after >= readable:
            raise error
        return self.events[stream][after:]

    async def tables(self, matches):
        return [event for match in matches for event in await self.missing("", table_stream(match), 0)]

    async def match_page(self, title, match, after):
        self.asked[match].append(after)
        self.asking += 1
        self.asking_max = max(self.asking_max, self.asking)
        await asyncio.sleep(0)
        self.asking -= 1
        return (await self.missing(title, match_stream(match), after))[:PAGE]


@pytest.fixture
async def stored(new_match):
    """More tables than are folded at once, one of them with a whole match; and their owners."""
    store, events = MemoryStore(), {}
    matches = [new_match() for _ in range(2 * TABLES_AT_ONCE + 3)]
    for match in matches:
        await sit_down(store, match)
        events[table_stream(match)] = gathered(match)
    return store, Owners(events), matches


@pytest.fixture
async def begun(stored):
    """The same with a finished match at every table."""
    store, owners, matches = stored
    for match in matches:
        owners.events[match_stream(match)] = played(match)
        await append_all(store, match_stream(match), Table().moves(10_000).entries)
    return store, owners, matches


async def append_all(store, stream, entries):
    head = b""
    for entry in entries:
        await store.append(
            Append(
                stream=stream,
                entry=entry,
                expected_version=entry.version - 1,
                expected_hash=head,
                owner="high_card",
                at=1,
            )
        )
        head = entry.hash


async def test_a_rebuild_finds_every_table_again(models, stored):
    store, owners, matches = stored
    done = await rebuild(store, models, owners, Follower(models, owners.missing), Waits())
    assert done.streams == len(matches)
    generations = await models.generations()
    assert len(generations) == 1
    assert all(await models.load(generations[0], matches))


async def test_matches_are_read_page_by_page_to_their_heads_and_no_further(models, begun):
    store, owners, matches = begun
    done = await rebuild(store, models, owners, Follower(models, nothing_missing), Waits())
    versions = len(played(matches[0]))
    assert done == (2 * len(matches), len(matches) * (len(gathered(matches[0])) + versions), 0, ())
    (generation,) = await models.generations()
    found = await models.load(generation, matches)
    assert {(summary.status, summary.play.cursor.version) for summary in found} == {("over", versions)}
    assert owners.asked == {match: list(range(0, versions, PAGE)) for match in matches}


async def test_a_rebuild_of_long_matches_renews_its_claim_with_every_page(models, begun, monkeypatch):
    store, owners, matches = begun
    renewed = []
    renew = Claim.renew

    async def counted(claim):
        renewed.append(claim.number)
        await renew(claim)

    monkeypatch.setattr(Claim, "renew", counted)
    await rebuild(store, models, owners, Follower(models, nothing_missing), Waits())
    groups, pages = ceil(len(matches) / TABLES_AT_ONCE), ceil(len(played(matches[0])) / PAGE)
    assert len(renewed) == groups * pages > groups


async def test_workers_are_asked_for_many_pages_at_once_but_not_for_all(models, begun):
    store, owners, matches = begun
    await rebuild(store, models, owners, Follower(models, nothing_missing), Waits())
    assert owners.asking_max == PAGES_AT_ONCE < len(matches)


async def test_a_match_that_has_lost_its_end_meanwhile_is_read_as_far_as_it_goes(models, begun):
    store, owners, matches = begun
    short = owners.events[match_stream(matches[0])]
    del short[PAGE:]
    await rebuild(store, models, owners, Follower(models, nothing_missing), Waits())
    (generation,) = await models.generations()
    (summary,) = await models.load(generation, matches[:1])
    assert summary.play.cursor.version == PAGE


async def test_a_rebuild_that_fails_leaves_the_read_models_as_they_are(models, stored, monkeypatch):
    store, owners, matches = stored
    follower = Follower(models, owners.missing)
    await follower.follow([*gathered(matches[0]), *played(matches[0])])
    before = await models.generations()
    owners.silent.set()
    monkeypatch.setattr(waits, "AWAY_S_MAX", 0)
    with pytest.raises(ServiceDown):
        await rebuild(store, models, owners, follower, Waits())
    assert await models.generations() == before
    (summary,) = await models.load(before[0], matches[:1])
    assert summary.status == "over"


async def test_a_rebuild_whose_caller_goes_away_is_given_up(models, stored):
    store, owners, _ = stored
    asked = asyncio.Event()

    async def never(title, stream, after):
        asked.set()
        await asyncio.Event().wait()

    owners.tables = lambda matches: never("", "", 0)
    rebuilding = asyncio.create_task(rebuild(store, models, owners, Follower(models, never), Waits()))
    await asked.wait()
    assert len(await models.generations()) == 2
    rebuilding.cancel()
    await asyncio.gather(rebuilding, return_exceptions=True)
    assert len(await models.generations()) == 1


async def test_a_second_rebuild_is_refused_and_leaves_what_the_first_one_fills(models, stored):
    store, owners, matches = stored
    asked, answering = asyncio.Event(), asyncio.Event()

    async def slow(matches):
        asked.set()
        await answering.wait()
        return await Owners.tables(owners, matches)

    owners.tables = slow
    follower = Follower(models, nothing_missing)
    first = asyncio.create_task(rebuild(store, models, owners, follower, Waits()))
    await asked.wait()
    with pytest.raises(RebuildUnderWay):
        await rebuild(store, models, owners, follower, Waits())
    answering.set()
    await first
    (generation,) = await models.generations()
    assert all(await models.load(generation, matches))


def damaged(stream, version=1):
    return HistoryCorrupt(stream, version, "its hash is wrong")


async def rebuilt(store, models, owners):
    """What a rebuild did, and how to look up the summaries that it made."""
    done = await rebuild(store, models, owners, Follower(models, nothing_missing), Waits())
    (generation,) = await models.generations()
    return done, lambda matches: models.load(generation, matches)


async def test_a_damaged_match_is_left_out_and_named_and_all_others_are_found(models, begun):
    store, owners, matches = begun
    bad, *sound = matches
    error = damaged(match_stream(bad), 3)
    owners.damages[match_stream(bad)] = (0, error)
    done, found = await rebuilt(store, models, owners)
    assert (done.streams, done.damages) == (2 * len(sound), (error,))
    assert await found([bad]) == [None], "its table alone would be shown as one that can be joined"
    assert {summary.status for summary in await found(sound)} == {"over"}


async def test_a_match_that_is_damaged_further_on_is_there_as_far_as_it_can_be_read(models, begun):
    store, owners, matches = begun
    bad = matches[0]
    error = damaged(match_stream(bad), PAGE + 1)
    owners.damages[match_stream(bad)] = (PAGE, error)
    done, found = await rebuilt(store, models, owners)
    assert done.damages == (error,)
    (summary,) = await found([bad])
    assert (summary.status, summary.play.cursor.version) == ("running", PAGE)
    assert None not in await found(matches)


async def test_damaged_tables_are_left_out_with_their_matches_and_named(models, begun):
    store, owners, matches = begun
    corrupt, gone, *sound = matches
    owners.damages[table_stream(corrupt)] = (0, damaged(table_stream(corrupt), 2))
    owners.damages[table_stream(gone)] = (0, NoSuchMatch(gone))
    done, found = await rebuilt(store, models, owners)
    named = {(damage.stream, damage.version) for damage in done.damages}
    assert named == {(table_stream(corrupt), 2), (table_stream(gone), 1)}
    assert await found([corrupt, gone]) == [None, None]
    assert None not in await found(sound)


async def test_of_very_many_damaged_streams_all_are_counted_and_some_are_kept(models, begun, monkeypatch):
    monkeypatch.setattr("services.projection.rebuild.DAMAGES_MAX", 5)
    store, owners, matches = begun
    for match in matches:
        owners.damages[match_stream(match)] = (0, damaged(match_stream(match)))
    done, found = await rebuilt(store, models, owners)
    assert (done.streams, done.damaged, len(done.damages)) == (0, len(matches), 5)
    assert set(await found(matches)) == {None}


async def test_what_is_left_out_is_logged_with_its_stream_and_version(models, stored):
    store, owners, matches = stored
    owners.damages[table_stream(matches[0])] = (0, damaged(table_stream(matches[0]), 2))
    with capture_logs() as logged:
        await rebuilt(store, models, owners)
    (line,) = [line for line in logged if line["event"] == "damaged_stream_left_out"]
    assert (line["stream"], line["version"]) == (table_stream(matches[0]), 2)
