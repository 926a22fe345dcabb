"""Players who play a match to its end with random legal moves, over HTTP or WebSocket, and keep a history."""

import asyncio
import json
import random
import uuid
from collections.abc import Iterable
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.e2e.site import Player, Refused

PATIENCE_S = 60.0


class Acknowledged(NamedTuple):
    """A move that was answered with a receipt."""

    match: str
    version: int
    head: str
    player: str
    request_id: str


class Seen(NamedTuple):
    """A view that a player was shown: at which version, whose eyes, and the view."""

    match: str
    version: int
    player: str
    view: Any


class History:
    """What clients were told. A checker compares it with the streams afterwards."""

    def __init__(self) -> None:
        self.acknowledged: list[Acknowledged] = []
        self.seen: list[Seen] = []

    def receipt(self, player: Player, request_id: str, receipt: Any) -> None:
        match, version, head = receipt["match"], receipt["version"], receipt["head"]
        self.acknowledged.append(Acknowledged(match, version, head, player.id, request_id))
        self.seen.append(Seen(match, version, player.id, receipt["view"]))


async def play_http(players: list[Player], match: str, history: History, rng: random.Random) -> None:
    """Plays `match` to its end, each move by its own seat's player over plain HTTP."""
    view = await players[0].view(match)
    while view["status"] == "running":
        mover = players[rng.choice(view["to_act"])]
        try:
            view = await _move_http(mover, match, history, rng)
        except Refused as refused:
            # A command whose answer was lost has moved the match on: read it and go on.
            if refused.reason not in ("VERSION_CONFLICT", "NOT_YOUR_TURN", "MATCH_OVER"):
                raise
            view = await mover.view(match)


async def _move_http(mover: Player, match: str, history: History, rng: random.Random) -> Any:
    page = await mover.legal_moves(match)
    if not page["choices"]:
        return await mover.view(match)
    request_id = uuid.uuid4().hex
    chosen = rng.choice(page["choices"])["move"]
    receipt = await mover.move(match, chosen, page["version"], key=request_id)
    history.receipt(mover, request_id, receipt)
    return receipt["view"]


async def play_sockets(
    players: list[Player], match: str, url: str, history: History, rng: random.Random
) -> None:
    """Plays `match` to its end with a WebSocket per player, while a stranger watches."""
    stranger = await players[0].site.player()
    async with asyncio.timeout(PATIENCE_S * 4), asyncio.TaskGroup() as tasks:
        tasks.create_task(Watcher(stranger, match, url, history).watch())
        for player in players:
            tasks.create_task(Seat(player, match, url, history, random.Random(rng.random())).watch())


class Watcher:
    """Follows a match over a WebSocket until it is over; connects again when the connection breaks."""

    def __init__(self, player: Player, match: str, url: str, history: History) -> None:
        self.player = player
        self.match = match
        self.history = history
        self.version = 0
        self.view: Any = None
        self._url = url.replace("http://", "ws://", 1) + f"/v1/matches/{match}/live"

    @property
    def is_done(self) -> bool:
        """Whether there is nothing more to hear."""
        return self.view is not None and self.view["status"] == "over"

    async def watch(self) -> None:
        while not self.is_done:
            try:
                await self._follow()
            except (OSError, ConnectionClosed, TimeoutError):
                await asyncio.sleep(0.1)

    async def _follow(self) -> None:
        headers = {"Authorization": f"Bearer {self.player.token}"}
        async with connect(self._url, additional_headers=headers, max_size=1 << 22) as socket:
            while not self.is_done:
                frame = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))
                self.heard(frame)
                await self.answer(socket)

    def heard(self, frame: Any) -> None:
        """Takes in a frame; versions never go back, and an event without a view is one version further."""
        if frame["type"] not in ("view", "event"):
            return
        version = frame["version"]
        if frame["type"] == "event":
            assert version == self.version + 1, f"from version {self.version} to {version}"
        assert version >= self.version, f"from version {self.version} back to {version}"
        self.version = version
        if frame.get("view") is not None:
            self.view = frame["view"]
            self.history.seen.append(Seen(self.match, version, self.player.id, self.view))

    async def answer(self, socket: ClientConnection) -> None:
        """A watcher only watches."""


class Seat(Watcher):
    """A player who moves when it is that player's turn."""

    def __init__(self, player: Player, match: str, url: str, history: History, rng: random.Random) -> None:
        super().__init__(player, match, url, history)
        self._rng = rng
        self._pending: dict[str, Any] = {}
        self._moved_at = 0

    @property
    def is_done(self) -> bool:
        return super().is_done and not self._pending

    def heard(self, frame: Any) -> None:
        if frame["type"] == "receipt":
            self._pending.pop(frame["id"], None)
            self.history.receipt(self.player, frame["id"], frame)
        elif frame["type"] == "problem" and frame.get("id") in self._pending:
            self._refused(frame)
        else:
            super().heard(frame)

    def _refused(self, frame: Any) -> None:
        if frame["status"] in (429, 503, 504):
            self._moved_at = 0  # to be sent again, under the same id
            return
        del self._pending[frame["id"]]
        assert frame["reason"] in ("VERSION_CONFLICT", "NOT_YOUR_TURN", "MATCH_OVER"), frame

    async def _follow(self) -> None:
        self._moved_at = 0
        await super()._follow()

    async def answer(self, socket: ClientConnection) -> None:
        view = self.view
        if view is None or view["status"] == "over" or view["seat"] not in view["to_act"]:
            return
        if self._moved_at == view["version"]:
            return
        frame = next(iter(self._pending.values()), None)
        if frame is None or frame["expected_version"] != view["version"]:
            page = await self.player.legal_moves(self.match)
            if page["version"] != view["version"] or not page["choices"]:
                return
            request_id = uuid.uuid4().hex
            frame = {
                "type": "move",
                "id": request_id,
                "request_id": request_id,
                "move": self._rng.choice(page["choices"])["move"],
                "expected_version": view["version"],
            }
            self._pending = {request_id: frame}
        await socket.send(json.dumps(frame))
        self._moved_at = view["version"]


async def all_of(plays: Iterable[Any], at_once: int) -> None:
    """Awaits all of `plays`, at most `at_once` at a time; the first failure ends them."""
    gate = asyncio.Semaphore(at_once)

    async def gated(play: Any) -> None:
        async with gate:
            await play

    async with asyncio.TaskGroup() as tasks:
        for play in plays:
            tasks.create_task(gated(play))
