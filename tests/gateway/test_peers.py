"""Which process of a service is asked, and when another one is."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest
from waystation.lobby.v1 import lobby_pb2

from gateway.peers import Lobby
from services.core.errors import NoSuchMatch, ServiceDown

pytestmark = pytest.mark.anyio


class Directory:
    """Two live lobbies; which one is first depends on the key."""

    addresses = ("a", "b")

    def service(self, name: str, key: str = "", avoid: Collection[str] = ()) -> str:
        live = [address for address in self.addresses if address not in avoid]
        if not live:
            raise ServiceDown(name, "no live process")
        return live[sum(key.encode()) % len(live)]


class Channels:
    """Counts what is asked where."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.fails: dict[str, Exception] = {}

    def stub(self, kind: Any, address: str) -> Any:
        return type("Stub", (), {"GetTable": address})

    async def call(self, method: str, request: Any, timeout_s: float, service: str) -> Any:
        self.asked[method] += 1
        if method in self.fails:
            raise self.fails[method]
        return lobby_pb2.GetTableResponse(table=lobby_pb2.Table(host=method))


@pytest.fixture
def channels() -> Channels:
    return Channels()


@pytest.fixture
def lobby(channels: Channels) -> Lobby:
    return Lobby(channels, Directory())  # type: ignore[arg-type]


async def test_matches_are_shared_out_and_each_has_one_process_of_its_own(
    lobby: Lobby, channels: Channels
) -> None:
    for _ in range(3):
        for match in ("m1", "m2"):
            await lobby.table(match)  # type: ignore[arg-type]
    assert channels.asked == {"a": 3, "b": 3}


@pytest.mark.parametrize("match", ["m1", "m2"])
async def test_where_one_process_is_away_another_answers(
    lobby: Lobby, channels: Channels, match: Any
) -> None:
    channels.fails["a"] = ServiceDown("lobby", "it cannot be reached")
    assert (await lobby.table(match)).table.host == "b"


async def test_where_all_are_away_two_are_asked(lobby: Lobby, channels: Channels) -> None:
    channels.fails = dict.fromkeys("ab", ServiceDown("lobby", "it cannot be reached"))
    with pytest.raises(ServiceDown):
        await lobby.table("m1")  # type: ignore[arg-type]
    assert channels.asked == {"a": 1, "b": 1}


async def test_a_refusal_is_an_answer(lobby: Lobby, channels: Channels) -> None:
    channels.fails = dict.fromkeys("ab", NoSuchMatch("m1"))
    with pytest.raises(NoSuchMatch):
        await lobby.table("m1")  # type: ignore[arg-type]
    assert channels.asked.total() == 1
