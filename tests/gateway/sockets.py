"""A client of live connections that remembers what it was told."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PATIENCE_S = 60.0

Json = dict[str, Any]


class Socket:
    """Frames by JSON. `frames`: all that came."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[Json] = []

    async def send(self, **frame: Any) -> None:
        await self.connection.send(json.dumps(frame))

    async def next(self, *kinds: str) -> Json:
        """The next frame, or the next of these kinds; heads come at any time and must be asked for."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                frame: Json = json.loads(await self.connection.recv())
                self.frames.append(frame)
                if frame["type"] in kinds or (not kinds and frame["type"] != "head"):
                    return frame

    async def until(self, holds: Callable[[Json], bool]) -> Json:
        """The next frame for which `holds`."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                frame: Json = json.loads(await self.connection.recv())
                self.frames.append(frame)
                if holds(frame):
                    return frame

    async def closed(self) -> tuple[int, str]:
        """Code and reason, once the server has closed the connection."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                while True:
                    self.frames.append(json.loads(await self.connection.recv()))
            except ConnectionClosed as end:
                assert end.rcvd is not None
                return end.rcvd.code, end.rcvd.reason

    def versions(self, match: str) -> list[int]:
        """The versions that views and events brought, which must go up by one unless a view fills a gap."""
        brought = [
            frame for frame in self.frames if frame["type"] in ("view", "event") and frame["match"] == match
        ]
        versions = [frame["version"] for frame in brought]
        assert versions == sorted(set(versions))
        for before, frame in zip(versions, brought[1:], strict=False):
            assert frame["type"] == "view" or frame["version"] == before + 1, versions
        return versions


def at(match: str, after: int | None = None) -> str:
    """Where a match is watched; with the events after a version first."""
    return f"/v1/matches/{match}/live" + ("" if after is None else f"?after={after}")


@asynccontextmanager
async def live(
    url: str, path: str = "/v1/live", token: str = "", invite: str = "", **options: Any
) -> AsyncIterator[Socket]:
    """A connection; with a token, greeted already."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"Invite-Code": invite} if invite else {}
    address = url.replace("http://", "ws://", 1) + path
    async with connect(address, additional_headers=headers, **options) as connection:
        socket = Socket(connection)
        if token:
            assert (await socket.next())["type"] == "hello"
        yield socket
