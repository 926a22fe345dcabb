"""Follows that end while they begin, and matches that begin while their workers are away."""

import asyncio
from typing import cast

import pytest
from waystation.lobby.v1 import lobby_pb2

from gateway.callers import Reader
from gateway.live import hub as hub_module
from gateway.live.following import Following, Sight
from gateway.live.frames import Frame
from gateway.live.hub import Hub
from gateway.places import Place, Places
from gateway.pushes import Pushes
from services.core.errors import NotStarted, TitleDown
from services.core.ids import MatchId, Slug
from services.kit.memory_store import MemoryStore
from tests.gateway.scripted import Scripted

pytestmark = pytest.mark.anyio

MATCH, TITLE = MatchId("m"), Slug("make_way")


class Lobby:
    """Places as a gateway knows them. They wait for `open`; `has_begun`: whether the match has."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.has_begun = True

    async def begun(self, match: MatchId) -> Place:
        await self.open.wait()
        if not self.has_begun:
            raise NotStarted
        return Place(match=match, title=TITLE, private=False, seats={})

    async def admit(self, place: Place, reader: Reader) -> bool:
        return False

    async def table_for(self, match: MatchId, reader: Reader) -> lobby_pb2.Table:
        await self.open.wait()
        return lobby_pb2.Table(match=match, title=TITLE, status=lobby_pb2.TABLE_STATUS_OPEN)


class Away(Scripted):
    """Workers that are away for the first read."""

    async def view(self, *asked, **more):
        if not self.reads:
            self.reads += 1
            raise TitleDown(TITLE, "no worker")
        return await super().view(*asked, **more)


class Client:
    def __init__(self, matches: Scripted) -> None:
        self.lobby = Lobby()
        self.pushes = Pushes()
        self.hub = Hub(MemoryStore(), matches, self.pushes)
        self.got: list[Frame] = []
        sight = Sight(self.hub, cast(Places, self.lobby))
        self.following = Following(sight, MATCH, Reader(None, "", ""), self.got.append)

    def kinds(self) -> list[str]:
        return [frame.kind for frame in self.got]


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("has_begun", [True, False])
async def test_a_follow_that_ends_while_it_begins_leaves_nothing_behind(has_begun: bool) -> None:
    client = Client(Scripted(3))
    client.lobby.has_begun = has_begun
    beginning = asyncio.create_task(client.following.begin(None))
    await settle()
    client.following.end()
    client.lobby.open.set()
    await beginning
    await settle()
    assert client.got == []
    assert client.hub.feeds == 0
    assert client.pushes.titles == []


async def test_a_follow_that_ends_while_its_view_is_read_leaves_nothing_behind() -> None:
    matches = Scripted(3)
    matches.open.clear()
    client = Client(matches)
    client.lobby.open.set()
    beginning = asyncio.create_task(client.following.begin(None))
    await settle()
    assert client.hub.feeds == 1
    client.following.end()
    matches.open.set()
    await beginning
    assert client.got == []
    assert client.hub.feeds == 0


async def test_a_table_is_followed_on_when_the_worker_is_away_as_its_match_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hub_module, "PUSH_S", 0)
    client = Client(Away(1))
    client.lobby.open.set()
    client.lobby.has_begun = False
    await client.following.begin(None)
    client.lobby.has_begun = True
    spectators = next(iter(client.hub._feeds.values()))
    spectators.told(1)
    await settle()
    assert client.kinds() == ["table"]
    spectators.told(1)  # as the heads tell every few seconds
    await settle()
    assert client.kinds() == ["table", "view"]
    client.following.end()
    assert client.hub.feeds == 0
