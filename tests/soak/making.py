"""Clients who create matches through the gateway as fast as it lets them, and play a few moves in some.

Every match takes the path of a real one: a table over HTTP, a second player who sits down, a seed, a start.
"""

import asyncio
from collections.abc import Iterator

import msgspec
from msgspec import Raw, Struct

from bench.clients import HttpClient

AT_ONCE = 64
PLAYERS = 200
PLAYED_EVERY = 20  # one match in so many is played on
MOVES = 4
TRIES_MAX = 50
PAUSE_S = 0.2


class Refused(Exception):
    """An answer that no honest client should have got."""


class _Guest(Struct):
    player: str
    token: str


class _Table(Struct):
    match: str


class _Choice(Struct):
    move: Raw


class _Legal(Struct):
    version: int
    choices: list[_Choice]


class Makers:
    """AT_ONCE connections that share a supply of numbers, one for each match to be made."""

    def __init__(self, host: str, port: int, titles: list[str]) -> None:
        self._host = host
        self._port = port
        self._titles = titles
        self._guests: list[_Guest] = []
        self._clients: list[HttpClient] = []
        self.made = 0
        self.moves = 0
        self.repeated = 0

    async def open(self) -> None:
        for _ in range(AT_ONCE):
            self._clients.append(await HttpClient.connect(self._host, self._port))
        first = self._clients[0]
        for _ in range(PLAYERS):
            self._guests.append(
                msgspec.json.decode(await self._ask(first, "POST", "/v1/players"), type=_Guest)
            )

    async def make(self, number: int) -> None:
        """Makes `number` more matches."""
        supply = iter(range(self.made, self.made + number))
        await asyncio.gather(*[self._keep_making(client, supply) for client in self._clients])

    def close(self) -> None:
        for client in self._clients:
            client.close()

    async def _keep_making(self, client: HttpClient, supply: Iterator[int]) -> None:
        for number in supply:
            seats = (self._guests[number % PLAYERS], self._guests[(number + 1) % PLAYERS])
            title = self._titles[number % len(self._titles)]
            match = await self._made(client, title, seats, f"soak-{number}")
            if number // len(self._titles) % PLAYED_EVERY == 0:
                await self._play(client, match, seats)
            self.made += 1

    async def _made(self, client: HttpClient, title: str, seats: tuple[_Guest, ...], key: str) -> str:
        host, *others = seats
        wish = msgspec.json.encode({"title": title, "seats": len(seats)})
        table = await self._ask(client, "POST", "/v1/matches", host, wish, key)
        match = msgspec.json.decode(table, type=_Table).match
        for guest in others:
            await self._ask(client, "POST", f"/v1/matches/{match}/seats", guest, b"{}", key)
        return match

    async def _play(self, client: HttpClient, match: str, seats: tuple[_Guest, ...]) -> None:
        """At most MOVES moves, each the first legal one of whoever may move."""
        path = f"/v1/matches/{match}"
        for turn in range(MOVES):
            for guest in seats:
                found = await self._ask(client, "GET", f"{path}/legal-moves?page_size=1", guest)
                legal = msgspec.json.decode(found, type=_Legal)
                if legal.choices:
                    body = b'{"expected_version":%d,"move":%b}' % (legal.version, legal.choices[0].move)
                    await self._ask(client, "POST", f"{path}/moves", guest, body, f"move-{turn}")
                    self.moves += 1
                    break

    async def _ask(
        self,
        client: HttpClient,
        method: str,
        path: str,
        guest: _Guest | None = None,
        body: bytes = b"",
        key: str = "",
    ) -> bytes:
        """The body of the answer; asks again, with the same key, while the answer is "later"."""
        headers = {"Authorization": f"Bearer {guest.token}"} if guest else {}
        if key:
            headers["Idempotency-Key"] = key
        for _ in range(TRIES_MAX):
            status, answer = await client.ask(method, path, body, headers)
            if status < 300:
                return answer
            # A sealed table's match may still be on its way: NOT_STARTED.
            if status not in (429, 503, 504) and b"NOT_STARTED" not in answer:
                raise Refused(f"{method} {path}: {status} {answer[:300]!r}")
            self.repeated += 1
            await asyncio.sleep(PAUSE_S)
        raise Refused(f"{method} {path}: no answer in {TRIES_MAX} attempts: {answer[:300]!r}")
