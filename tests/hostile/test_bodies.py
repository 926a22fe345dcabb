"""Bodies, frames and messages that no honest client sends: a typed refusal, no traceback, nothing stored."""

import json
import random
import socket

import aiohttp
import grpc
import pytest

from services.core.ids import MatchId, match_stream
from services.kit import plain_redis
from services.kit.directory import Directory
from tests.e2e.site import gathered
from tests.hostile.conftest import logs

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SEED = 20260202
DEEP = "[" * 100_000
TEXTS = (
    "",
    "null",
    "[]",
    "{",
    DEEP,
    '{"move":' + DEEP,
    '{"move":{"type":"x"},"expected_version":' + "9" * 5000 + "}",
    '{"move":{"type":"x"},"expected_version":-1}',
    '{"move":{"type":"x"},"expected_version":1e400}',
    '{"move":{"type":"x"},"expected_version":true}',
    '{"move":"\\u0000","expected_version":1}',
    '{"move":{"type":"\\ud800"},"expected_version":1}',
    '{"move":{},"expected_version":1,"unknown":1}',
    '{"type":"move","move":{},"expected_version":1}',
    '{"type":"follow","match":"\\u0000"}',
    '{"type":"follow","match":"*.>"}',
    '{"type":"hello","token":7}',
    '{"type":"unheard_of"}',
)
BODIES = (*(text.encode() for text in TEXTS), b"\xff\xfe\x00", b"\x00" * 1000, b'{"move":"\xc3\x28"}')


def ruined(rng: random.Random) -> bytes:
    """A body that is nearly good."""
    good = b'{"move":{"type":"play","card":1},"expected_version":1,"id":"a"}'
    at, length = rng.randrange(len(good)), rng.randrange(6)
    return good[:at] + rng.randbytes(length) + good[at + rng.randrange(4) :]


async def test_no_body_makes_a_server_fault_or_moves_a_match(system, site, store):
    rng = random.Random(SEED)
    players = await site.players(2)
    match = await gathered(players, "make_way")
    (version,) = await store.heads([match_stream(MatchId(match))])
    paths = ("", "/seats", "/moves", "/draw-offers/1/answer", "/takebacks/1/answer", "/abort", "/start")
    headers = {"Authorization": f"Bearer {players[0].token}", "Idempotency-Key": "hostile"}
    for body in (*BODIES, *(ruined(rng) for _ in range(150)), b"x" * 10_000_000):
        for path in rng.sample(paths, 3):
            url = f"{system.url}/v1/matches" + (f"/{match}{path}" if path else "")
            try:
                async with site.client.post(url, data=body, headers=headers) as response:
                    text = await response.text()
            except aiohttp.ClientConnectionError:
                assert len(body) > 1_000_000  # refused before it was sent whole
                continue
            assert response.status < 500, (path, body[:80], text)
            assert "Traceback" not in text
            assert response.status >= 300, (path, body[:80], text)
    assert await store.heads([match_stream(MatchId(match))]) == [version]


LARGE = 64 * 1024


async def test_no_frame_ends_more_than_its_own_socket(system, site, store):
    rng = random.Random(SEED + 1)
    players = await site.players(2)
    match = await gathered(players, "make_way")
    (version,) = await store.heads([match_stream(MatchId(match))])
    url = f"{system.url}/v1/matches/{match}/live"
    headers = {"Authorization": f"Bearer {players[0].token}"}
    for body in (*BODIES, *(ruined(rng) for _ in range(60)), b"x" * 2_000_000):
        async with site.client.ws_connect(url, headers=headers) as live:
            try:
                await (live.send_bytes(body) if rng.random() < 0.5 else live.send_str(body.decode("latin-1")))
            except ConnectionError:
                assert len(body) > LARGE, body[:80]  # the gateway may hang up before it has read it all
                continue
            while True:
                said = await live.receive(timeout=10)
                if said.type is not aiohttp.WSMsgType.TEXT:
                    assert len(body) > LARGE or live.close_code not in (1011, 1006), body[:80]
                    break
                frame = json.loads(said.data)
                if frame["type"] == "problem":
                    assert frame["status"] < 500, (body[:80], frame)
                    break
    assert await store.heads([match_stream(MatchId(match))]) == [version]


async def test_no_message_ends_a_worker(system, store):
    rng = random.Random(SEED + 2)
    redis = plain_redis.connect(system.redis_url)
    directory = Directory(redis)
    await directory.refresh()
    (worker,) = directory.workers("make_way")
    async with grpc.aio.insecure_channel(worker.address) as channel:
        for method in ("GetMatch", "SubmitCommand", "StartMatch", "CheckOptions", "ListEvents"):
            call = channel.unary_unary(f"/waystation.rules.v1.RulesService/{method}")
            for size in (0, 1, 7, 60, 500, 100_000):
                try:
                    await call(rng.randbytes(size), timeout=5)
                except grpc.aio.AioRpcError as failed:
                    assert "Traceback" not in (failed.details() or "")
    assert system.services["rules-make_way-1"].exit_code is None
    await redis.aclose()


async def test_a_request_that_never_ends_is_given_up(system):
    with socket.create_connection(("127.0.0.1", system.ports[0])) as slow:
        slow.sendall(b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
    assert system.services["gateway-1"].exit_code is None


def test_nothing_was_a_fault_of_ours(system):
    """gRPC itself logs how it could not read a message; whatever else raised is ours."""
    for name, text in logs(system).items():
        for line in text.splitlines():
            assert "Traceback" not in line or "DecodeError" in line, (name, line)
            assert '"BUG"' not in line, (name, line)
