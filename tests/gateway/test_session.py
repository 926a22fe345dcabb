"""A session over a transport that counts what is read of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import msgspec
import pytest

from gateway.identity import Identity
from gateway.limits import Buckets
from gateway.live import session
from gateway.live.following import Sight
from gateway.live.hub import Hub
from gateway.live.session import Lent, Opening, Session
from gateway.live.sockets import Sockets
from gateway.places import Places
from gateway.pushes import Pushes
from services.kit.memory_store import MemoryStore
from tests.gateway.scripted import Scripted

pytestmark = pytest.mark.anyio

HELLO = b'{"type":"hello"}'
UNFOLLOW = b'{"type":"unfollow","match":"m"}'
BURST = 3
FOR_EVER_S = 86_400.0


class Peer:
    """Has all its frames ready at once. `read`: how many of them were taken; `told`: the reasons it got."""

    def __init__(self, frames: Sequence[bytes]) -> None:
        self._frames = frames
        self.read = 0
        self.told: list[str] = []

    async def receive(self) -> bytes:
        if self.read == len(self._frames):
            await asyncio.Event().wait()
        self.read += 1
        return self._frames[self.read - 1]

    async def send(self, frames: Sequence[bytes]) -> None:
        said = [msgspec.json.decode(frame) for frame in frames]
        self.told += [frame["reason"] for frame in said if frame["type"] == "problem"]

    async def close(self, code: int, reason: str) -> None:
        pass

    def drop(self, code: int, reason: str) -> None:
        pass


@asynccontextmanager
async def spoken_with(peer: Peer) -> AsyncIterator[None]:
    """A session with a spectator, who may send BURST frames and then none."""
    matches, store = Scripted(1), MemoryStore()
    lent = Lent(
        identity=cast(Identity, None),  # spectators come without a token
        matches=matches,
        sight=Sight(Hub(store, matches, Pushes()), cast(Places, None)),
        sockets=cast(Sockets, None),
        player_rate=Buckets(0, 1),
        address_rate=Buckets(1, BURST, clock=lambda: 0.0),
    )
    running = asyncio.create_task(Session(lent, peer, Opening("192.0.2.1")).run())
    await settle()
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.parametrize("frame", [UNFOLLOW, b"nonsense"], ids=["read", "unreadable"])
async def test_after_a_frame_that_is_one_too_many_nothing_is_read_until_the_pause_ends(
    monkeypatch: pytest.MonkeyPatch, frame: bytes
) -> None:
    for pause_s, refused in ((FOR_EVER_S, 1), (0.0, 10 - BURST)):
        monkeypatch.setattr(session, "TOO_MANY_S", pause_s)
        peer = Peer([HELLO, *[frame] * 10])
        async with spoken_with(peer):
            assert peer.read == 1 + BURST + refused
            assert peer.told.count("TOO_MANY_REQUESTS") == refused


async def test_what_is_refused_for_anything_else_costs_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "TOO_MANY_S", FOR_EVER_S)
    peer = Peer([HELLO, *[b"nonsense"] * BURST])
    async with spoken_with(peer):
        assert peer.told == ["BAD_REQUEST"] * BURST
