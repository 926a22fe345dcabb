"""Tables opened over HTTP as any client opens them; each becomes a match at once.

`python -m bench.tables` with a Crowd as JSON opens many, and leaves them. A match costs about 8 ms of the
servers' CPU that way, and nothing is missing that a real one leaves: streams, seed, lists, read models.
"""

import asyncio
import sys
from collections.abc import Iterator, Sequence

import msgspec
import uvloop
from msgspec import Struct

from bench.clients import Broken, HttpClient
from bench.cores import stay_on

AT_ONCE = 32
PLAYERS = 1_000  # among whom the matches of a crowd are shared out
S_MAX = 60.0
S_MAX_EACH = 0.05


class Crowd(Struct, frozen=True):
    """Matches of one title for two. `core`: what the process that opens them runs on."""

    title: str
    matches: int
    host: str
    ports: list[int]
    core: int | None

    @property
    def s_max(self) -> float:
        """How long the opening may take."""
        return S_MAX + S_MAX_EACH * self.matches


class _Guest(Struct):
    token: str


class _Table(Struct):
    match: str


async def guest(client: HttpClient) -> str:
    """The token of a new player."""
    return msgspec.json.decode(await _ask(client, "/v1/players"), type=_Guest).token


async def opened(client: HttpClient, title: str, tokens: Sequence[str]) -> str:
    """The id of a match between the players of `tokens`, which begins now."""
    host, *others = tokens
    wish = msgspec.json.encode({"title": title, "seats": len(tokens)})
    match = msgspec.json.decode(await _ask(client, "/v1/matches", wish, host), type=_Table).match
    for token in others:
        await _ask(client, f"/v1/matches/{match}/seats", b"{}", token)
    return match


async def open_all(crowd: Crowd) -> None:
    """Opens the matches, AT_ONCE at a time. Raises TimeoutError after `crowd.s_max`."""
    async with asyncio.timeout(crowd.s_max):
        ports = [crowd.ports[number % len(crowd.ports)] for number in range(AT_ONCE)]
        clients = [await HttpClient.connect(crowd.host, port) for port in ports]
        tokens = [await guest(clients[0]) for _ in range(min(PLAYERS, crowd.matches + 1))]
        supply = iter(range(crowd.matches))
        await asyncio.gather(*[_keep_opening(client, crowd.title, tokens, supply) for client in clients])
        for client in clients:
            client.close()


async def _keep_opening(client: HttpClient, title: str, tokens: list[str], supply: Iterator[int]) -> None:
    for number in supply:
        pair = [tokens[(number + seat) % len(tokens)] for seat in range(2)]
        await opened(client, title, pair)


async def _ask(client: HttpClient, path: str, body: bytes = b"", token: str = "") -> bytes:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    status, answer = await client.ask("POST", path, body, headers)
    if status >= 300:
        raise Broken(f"POST {path} was refused: {answer[:300]!r}")
    return answer


if __name__ == "__main__":
    asked = msgspec.json.decode(sys.argv[1], type=Crowd)
    stay_on(asked.core)
    uvloop.run(open_all(asked))
