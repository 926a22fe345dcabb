"""Request bodies that no honest client sends, or sends so slowly: a typed refusal, nothing stored."""

import asyncio
import random

import aiohttp
import pytest

from tests.e2e.site import gathered
from tests.hostile.bodies import BODIES, ruined
from tests.hostile.conftest import pids
from tests.hostile.stored import changed, stored

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SEED = 20260202
PATIENCE_S = 90.0


PATHS = (
    "/v1/players/tokens",
    "/v1/quick-matches",
    "/v1/matches",
    "/v1/matches/{match}/seats",
    "/v1/matches/{match}/moves",
    "/v1/matches/{match}/draw-offers/1/answer",
    "/v1/matches/{match}/takebacks/1/answer",
    "/v1/matches/{match}/abort",
)
HEAD = b"POST /v1/matches HTTP/1.1\r\nHost: x\r\n"
# How a request begins that never ends, and what comes every half second from then on.
SLOW = {
    "a body that does not come": (HEAD + b"Content-Length: 100\r\n\r\n", b""),
    "a body by the byte": (HEAD + b"Content-Length: 60000\r\n\r\n", b" "),
    "chunks by the byte": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a head by the byte": (HEAD + b"X-Slow: ", b"x"),
    "nothing": (b"", b""),
}


async def test_no_body_is_a_fault_or_is_stored(system, site, redis):
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    players = await site.players(2)
    match = await gathered(players, "make_way")
    headers = {"Authorization": f"Bearer {players[0].token}", "Idempotency-Key": "hostile"}
    before, living = await stored(redis), pids(system)
    for body in (*BODIES, *(ruined(rng) for _ in range(150)), b"x" * 10_000_000):
        for path in rng.sample(PATHS, 3):
            url = system.url + path.format(match=match)
            try:
                async with site.client.post(url, data=body, headers=headers) as response:
                    text = await response.text()
            except aiohttp.ClientConnectionError:
                assert len(body) > 1_000_000  # refused before it was sent whole
                continue
            assert 400 <= response.status < 500, (path, body[:80], text)
            assert response.content_type == "application/problem+json", (path, body[:80], text)
            assert "Traceback" not in text
    assert pids(system) == living
    assert changed(before, await stored(redis)) == []


async def test_a_request_that_never_ends_is_given_up(system, site, redis):
    before = await stored(redis)
    await asyncio.gather(*[_until_hung_up(system.ports[0], *how) for how in SLOW.values()])
    assert changed(before, await stored(redis)) == []


async def _until_hung_up(port: int, begin: bytes, more: bytes) -> None:
    """Keeps a request going for ever, until the gateway hangs up; fails when it does not."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(begin)
    ended = asyncio.create_task(reader.read())
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not (await asyncio.wait((ended,), timeout=0.5))[0]:
                writer.write(more)
        if ended.exception() is None:
            assert ended.result() == b"" or ended.result().startswith(b"HTTP/1.1 4")
        else:
            assert isinstance(ended.exception(), ConnectionError)
    finally:
        ended.cancel()
        writer.close()


async def test_a_body_is_read_only_as_far_as_one_may_be_long(system, site, redis):
    before = await stored(redis)
    reader, writer = await asyncio.open_connection("127.0.0.1", system.ports[0])
    writer.write(HEAD + b"Content-Length: 10000000000\r\n\r\n" + b"x" * 100_000)
    async with asyncio.timeout(PATIENCE_S):
        answer = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    assert answer.startswith(b"HTTP/1.1 4")
    assert changed(before, await stored(redis)) == []
