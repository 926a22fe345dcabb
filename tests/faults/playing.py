"""Clients that play match after match, whatever happens around them, and write down what they are told."""

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from services.core.errors import DomainError, HistoryCorrupt
from services.core.events import bytes_of
from services.core.ids import MatchId, StreamName, match_stream, table_stream
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.store import EventStore
from tests.e2e.site import Player, Refused, Site
from tests.faults.callers import HttpCaller, LiveCaller, Mover, Order, WorkerCaller
from tests.faults.history import Fate, History, Oddity, Told
from tests.faults.shadow import Shadow
from tests.titles.found import title_of

OPTIONS = {"wayfare": {"size": 6}}  # the smallest board: short matches, cheap moves
BEGIN_S_MAX = 30.0
AGAIN = 0.04  # of accepted moves are sent once more, under the same key
MISUSED = 0.02  # and of these many the key is used for another move


@dataclass
class Ground:
    """What all clients play on. `urls`: the gateways, through proxies. `stop`: no new commands."""

    site: Site
    client: aiohttp.ClientSession
    urls: list[str]
    store: EventStore
    directory: Directory
    channels: Channels
    history: History
    stop: asyncio.Event
    matches: dict[str, list[Mover]]


class Client:
    """One of many. `via`: http, socket, or duel (two rivals at two workers, every move a race)."""

    def __init__(self, number: int, title: str, via: str, ground: Ground, seed: str) -> None:
        self.number = number
        self.title = title
        self.via = via
        self.ground = ground
        self._rng = random.Random(f"{seed} {number}")
        self._players: list[Player] = []
        self._http = HttpCaller(ground.client, ground.urls, ground.history)

    async def keep_playing(self) -> None:
        """Until the ground is closed. A match that cannot be begun or read now is left for another."""
        while not self.ground.stop.is_set():
            try:
                match, movers = await self._begin()
                async with self._means(match, movers) as means:
                    await self._play(match, movers, means)
            except HistoryCorrupt as error:
                self.ground.history.wrong.append(str(error))
            except (DomainError, Refused, AssertionError, TimeoutError, ValueError):
                await asyncio.sleep(0.5)

    async def _begin(self) -> tuple[MatchId, list[Mover]]:
        seats = title_of(self.title).seats.start
        while len(self._players) < seats:
            self._players.append(await self.ground.site.player())
        movers = [Mover(player.id, player.token) for player in self._players]
        options = OPTIONS.get(self.title, {})
        table = {"title": self.title, "seats": seats, "options": options}
        match = await self._sit("/v1/matches", movers[0], table)
        for mover in movers[1:]:
            await self._sit(f"/v1/matches/{match}/seats", mover, {})
        self.ground.matches[match] = movers
        return match, movers

    async def _sit(self, path: str, mover: Mover, body: Any) -> MatchId:
        """Creates a table, or takes a seat at one; its id. Raises Refused, TimeoutError."""
        told = self._invoke(StreamName(""), mover.player, "table")
        status, answer = await self._http.post(path, mover, told, body)
        if not status:
            raise TimeoutError(path)
        if status >= 300:
            told.refuse(str(answer.get("reason")))
            raise Refused(status, answer)
        match = MatchId(answer["match"])
        told.stream = table_stream(match)
        told.fate, told.answered = Fate.OK, time.monotonic()
        return match

    @asynccontextmanager
    async def _means(self, match: MatchId, movers: list[Mover]) -> AsyncIterator[dict[str, LiveCaller]]:
        """The sockets of a match: one per player for clients who play over them, and perhaps a stranger's."""
        ground = self.ground
        live = {
            mover.player: LiveCaller(ground.client, ground.urls, ground.history, match, mover)
            for mover in (movers if self.via == "socket" else [])
        }
        if self.number % 3 == 0 or self.via == "duel":
            guest = await ground.site.player()
            watcher = LiveCaller(ground.client, ground.urls, ground.history, match, Mover("", guest.token))
            live[""] = watcher
        try:
            yield live
        finally:
            for socket in live.values():
                await socket.close()

    async def _play(self, match: MatchId, movers: list[Mover], live: dict[str, LiveCaller]) -> None:
        shadow = Shadow(self.ground.store, match)
        async with asyncio.timeout(BEGIN_S_MAX):
            await self._read(shadow)
        tokens = {mover.player: mover for mover in movers}
        while not shadow.now.outcome and not self.ground.stop.is_set():
            if self.via == "duel":
                await self._race(shadow, tokens)
            else:
                await self._move(shadow, tokens, live)

    async def _move(self, shadow: Shadow, movers: dict[str, Mover], live: dict[str, LiveCaller]) -> None:
        player, move = shadow.any_move(self._rng)
        order = Order(move, shadow.now.version)
        told = self._invoke(match_stream(shadow.now.id), player, self.via)
        caller = live[player] if self.via == "socket" else self._http
        await caller.submit(told, movers[player], order)
        if told.fate is Fate.OK and self._rng.random() < AGAIN:
            await self._repeat(told, movers[player], order)
        if told.fate is Fate.OK and self._rng.random() < MISUSED:
            await self._misuse(told, movers[player], order, shadow)
        if told.fate is not Fate.OK or not shadow.play(player, move, told.version):
            await self._read(shadow)

    async def _race(self, shadow: Shadow, movers: dict[str, Mover]) -> None:
        """Two moves at one version, at two workers at once: one is stored, or neither."""
        ground, stream, version = self.ground, match_stream(shadow.now.id), shadow.now.version
        caller = WorkerCaller(ground.directory, ground.channels, ground.history, self.title)
        rivals = []
        for worker in range(2):
            player, move = shadow.any_move(self._rng)
            told = self._invoke(stream, player, self.via)
            rivals.append((told, caller.submit(told, movers[player], Order(move, version), worker)))
        (one, _), (other, _) = rivals
        ground.history.races.append((one, other))
        await asyncio.gather(*(submitted for _, submitted in rivals))
        await self._read(shadow)

    def _invoke(self, stream: StreamName, player: str, via: str) -> Told:
        return self.ground.history.invoke(self.number, via, stream, player, uuid.uuid4().hex)

    async def _repeat(self, told: Told, mover: Mover, order: Order) -> None:
        """The same command under the same key gets the same receipt."""
        status, answer = await self._http.post(self._path(told), mover, self._again(told), order.body)
        if not status:
            return
        self.ground.history.repeats += 1
        if status >= 300 or (answer["version"], bytes_of(answer["head"])) != (told.version, told.head):
            said = answer.get("version", answer.get("reason"))
            line = f"{told.stream}: repeated after version {told.version}, answered {status} {said}"
            self.ground.history.oddities.append(Oddity(told, line))

    async def _misuse(self, told: Told, mover: Mover, order: Order, shadow: Shadow) -> None:
        """Another move under the same key is refused."""
        other = next(
            (move for _, move in (shadow.any_move(self._rng) for _ in range(4)) if move != order.move), None
        )
        if other is None:
            return
        changed = Order(other, order.version)
        status, answer = await self._http.post(self._path(told), mover, self._again(told), changed.body)
        if status and answer.get("reason") != "REQUEST_ID_REUSED":
            line = f"{told.stream}: the key of version {told.version} used again, answered {status} {answer}"
            self.ground.history.oddities.append(Oddity(told, line))

    def _again(self, told: Told) -> Told:
        """The same key once more, kept out of the history."""
        return Told(told.client, told.via, told.stream, told.player, told.request_id, time.monotonic())

    def _path(self, told: Told) -> str:
        return f"/v1/matches/{told.stream.partition('/')[2]}/moves"

    async def _read(self, shadow: Shadow) -> None:
        """Reads until the store answers and the match has begun."""
        while True:
            try:
                await shadow.read()
                return
            except HistoryCorrupt:
                raise
            except DomainError:
                if self.ground.stop.is_set():
                    raise
                await asyncio.sleep(0.1)
