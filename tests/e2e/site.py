"""A game site's client: what a person with a script would write against the HTTP API."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Self

import aiohttp

ATTEMPTS_MAX = 60
PAUSE_S = 0.25


class Refused(Exception):
    """The answer was a problem: its status, reason and members."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status} {problem}")
        self.status = status
        self.problem = problem

    @property
    def reason(self) -> str:
        return str(self.problem.get("reason"))


@dataclass
class Site:
    """One or more gateways. Requests that may be repeated are, with the same key, until they are answered.

    `under_way`: requests begun and not yet answered. `attempts_most`: what the hardest of them took.
    """

    urls: list[str]
    retried: int = 0
    under_way: int = 0
    attempts_most: int = 1
    client: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self.client = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.client is not None:
            await self.client.close()

    async def ask(
        self, method: str, path: str, *, token: str = "", key: str = "", body: Any = None, **params: Any
    ) -> Any:
        """The JSON of the answer. Retries while nobody knows, or the answer says "later". Raises Refused."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if key:
            headers["Idempotency-Key"] = key
        self.under_way += 1
        try:
            return await self._answer(method, path, headers, body, params)
        finally:
            self.under_way -= 1

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: Any, params: Any) -> Any:
        assert self.client is not None, "use the site as a context manager"
        last: object = None
        for attempt in range(ATTEMPTS_MAX):
            self.attempts_most = max(self.attempts_most, attempt + 1)
            pause_s = PAUSE_S
            url = self.urls[attempt % len(self.urls)] + path
            try:
                async with self.client.request(
                    method, url, headers=headers, json=body, params=params
                ) as response:
                    answer = json.loads(await response.read())
                    pause_s = float(response.headers.get("Retry-After", PAUSE_S))
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError) as error:
                last = error
            else:
                if response.status < 300:
                    return answer
                if response.status not in (429, 503, 504):
                    raise Refused(response.status, answer)
                last = answer
            self.retried += 1
            await asyncio.sleep(pause_s)
        raise AssertionError(f"no answer to {method} {path} in {ATTEMPTS_MAX} attempts: {last}")

    async def player(self) -> "Player":
        made = await self.ask("POST", "/v1/players")
        return Player(self, made["player"], made["token"])

    async def players(self, number: int) -> list["Player"]:
        return [await self.player() for _ in range(number)]


@dataclass
class Player:
    """A guest with a token."""

    site: Site
    id: str
    token: str

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        return await self.site.ask(method, path, token=self.token, **more)

    async def create(self, title: str, key: str = "", **table: Any) -> Any:
        return await self.ask("POST", "/v1/matches", key=key, body={"title": title, **table})

    async def join(self, match: str, key: str = "", **seat: Any) -> Any:
        return await self.ask("POST", f"/v1/matches/{match}/seats", key=key, body=seat)

    async def view(self, match: str, version: int | None = None) -> Any:
        params = {} if version is None else {"version": version}
        return await self.ask("GET", f"/v1/matches/{match}", **params)

    async def legal_moves(self, match: str, page_size: int = 1000) -> Any:
        return await self.ask("GET", f"/v1/matches/{match}/legal-moves", page_size=page_size)

    async def move(self, match: str, move: Any, version: int, key: str = "") -> Any:
        body = {"move": move, "expected_version": version}
        return await self.ask("POST", f"/v1/matches/{match}/moves", key=key, body=body)


async def gathered(players: list[Player], title: str, **table: Any) -> str:
    """The id of a new match of `title` with these players at its seats, in order."""
    made = await players[0].create(title, seats=len(players), **table)
    match: str = made["match"]
    for player in players[1:]:
        await player.join(match)
    for _ in range(100):
        if (await players[0].view(match))["status"] in ("running", "over"):
            return match
        await asyncio.sleep(0.05)
    raise AssertionError(f"match {match} did not begin")
