"""Owners of streams who are away for a moment: a rebuild asks them again, and gives up in the end."""

import asyncio
from collections import Counter

import pytest
from structlog.testing import capture_logs
from waystation.projection.v1.projection_pb2 import GetRebuildRequest, RebuildRequest

from services.core.errors import Deadline, HistoryCorrupt, NoSuchTitle, Overloaded, ServiceDown, TitleDown
from services.core.ids import match_stream, table_stream
from services.kit.memory_store import MemoryStore
from services.projection import waits
from services.projection.follow import Follower
from services.projection.generations import Claim
from services.projection.rebuild import rebuild
from services.projection.servicer import ProjectionServicer
from services.projection.waits import Waits
from tests.core.matches import Table
from tests.projection.published import gathered, played
from tests.projection.test_rebuild import append_all
from tests.rules.hosting import sit_down

pytestmark = pytest.mark.anyio

AWAY = [
    TitleDown("high_card", "no live worker"),
    NoSuchTitle("high_card"),
    ServiceDown("lobby", "no live process"),
    Deadline(5_000),
    Overloaded("the worker", 1, 1),
]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(waits, "PAUSE_S_MIN", 0.001)


@pytest.fixture
async def matches(new_match):
    return [new_match() for _ in range(3)]


@pytest.fixture
async def store(matches):
    """Finished matches at all tables."""
    store = MemoryStore()
    for match in matches:
        await sit_down(store, match)
        await append_all(store, match_stream(match), Table().moves(10_000).entries)
    return store


class Owners:
    """The lobby and the title's worker. `away`: with what each refuses its first questions, and how many."""

    def __init__(self):
        self.away = {}
        self.asked = Counter()
        self.asked_often = asyncio.Event()

    async def tables(self, matches):
        self._refuse("lobby")
        return [event for match in matches for event in gathered(match)]

    async def match_page(self, title, match, after):
        self._refuse("worker")
        return played(match)[after:]

    def _refuse(self, owner):
        self.asked[owner] += 1
        if self.asked[owner] > 9:
            self.asked_often.set()
        error, times = self.away.get(owner, (None, 0))
        if self.asked[owner] <= times:
            raise error


@pytest.fixture
def owners():
    return Owners()


async def nothing_missing(title, stream, after):
    raise AssertionError(f"asked for {stream} after {after}")


async def rebuilt(store, models, owners, waiting=None):
    return await rebuild(store, models, owners, Follower(models, nothing_missing), waiting or Waits())


@pytest.mark.parametrize("owner", ["lobby", "worker"])
@pytest.mark.parametrize("error", AWAY, ids=lambda error: error.reason)
async def test_an_owner_that_is_away_for_a_moment_is_asked_again(
    models, store, owners, matches, owner, error
):
    owners.away[owner] = error, 4
    done = await rebuilt(store, models, owners)
    assert (done.streams, done.damages) == (2 * len(matches), ())
    (generation,) = await models.generations()
    assert {summary.status for summary in await models.load(generation, matches)} == {"over"}


async def test_an_owner_that_stays_away_ends_the_rebuild_by_name(models, store, owners, matches, monkeypatch):
    before = await models.generations()
    monkeypatch.setattr(waits, "AWAY_S_MAX", 0.05)
    owners.away["worker"] = TitleDown("high_card", "no live worker"), 1_000_000
    with pytest.raises(ServiceDown) as ended:
        await rebuilt(store, models, owners)
    assert str(ended.value) == (
        "a worker of high_card does not answer: "
        "waited 0.05 s in vain: no worker of high_card can serve this now: no live worker"
    )
    assert await models.generations() == before
    asked = owners.asked["worker"]
    await asyncio.sleep(0.02)
    assert owners.asked["worker"] == asked, "somebody still asks"


async def test_what_is_no_outage_is_not_asked_for_again(models, store, owners, matches):
    owners.away["lobby"] = HistoryCorrupt(table_stream(matches[0]), 1, "its hash is wrong"), 1_000_000
    await rebuilt(store, models, owners)
    assert owners.asked["lobby"] == 1 + len(matches), "all of them together, then each by itself"


async def test_the_claim_is_kept_while_somebody_is_waited_for(models, store, owners, monkeypatch):
    renewed = []
    renew = Claim.renew

    async def counted(claim):
        renewed.append(claim.number)
        await renew(claim)

    monkeypatch.setattr(Claim, "renew", counted)
    await rebuilt(store, models, owners)
    undisturbed = len(renewed)
    owners.asked.clear()
    owners.away["lobby"] = ServiceDown("lobby", "no live process"), 5
    await rebuilt(store, models, owners)
    assert len(renewed) == 2 * undisturbed + 5


async def test_a_rebuild_whose_claim_lapses_while_it_waits_ends_at_once(models, store, owners, monkeypatch):
    async def lapsed(claim):
        raise claim._lapsed()

    monkeypatch.setattr(Claim, "renew", lapsed)
    owners.away["lobby"] = ServiceDown("lobby", "no live process"), 1_000_000
    with pytest.raises(ServiceDown, match="has lapsed"):
        await rebuilt(store, models, owners)
    assert owners.asked["lobby"] == 1


async def test_pauses_grow_up_to_a_bound(monkeypatch):
    paused = []

    async def pause(seconds):
        paused.append(seconds)

    async def nothing():
        pass

    tries = iter(range(12))

    async def ask():
        if next(tries) < 11:
            raise Deadline(1)
        return "back"

    monkeypatch.setattr(waits, "PAUSE_S_MIN", 1)
    monkeypatch.setattr(waits, "PAUSE_S_MAX", 6)
    monkeypatch.setattr(waits.asyncio, "sleep", pause)
    assert await Waits().answered("the lobby", ask, nothing) == "back"
    assert paused == [1, 2, 4] + 8 * [6]


async def test_who_is_waited_for_is_told_until_they_are_back_and_logged_once(models, store, owners):
    servicer = ProjectionServicer(store, models, owners, Follower(models, nothing_missing))

    async def waits_for():
        return list((await servicer.GetRebuild(GetRebuildRequest(), None)).waits_for)

    owners.away["worker"] = TitleDown("high_card", "no live worker"), 1_000_000
    assert await waits_for() == []
    with capture_logs() as logged:
        rebuilding = asyncio.create_task(servicer.Rebuild(RebuildRequest(), None))
        await owners.asked_often.wait()
        assert await waits_for() == ["a worker of high_card"]
        owners.away.clear()
        await rebuilding
    assert await waits_for() == []
    assert [line["owner"] for line in logged if line["event"] == "owner_awaited"] == ["a worker of high_card"]
