"""WebSocket frames that no honest client sends: they end at most their own socket, and nothing is stored."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from gateway.server import FRAME_BYTES_MAX
from tests.e2e.site import gathered
from tests.hostile.bodies import BODIES, ruined
from tests.hostile.conftest import pids
from tests.hostile.stored import changed, stored

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SEED = 20260204
RUINED = 150
PATIENCE_S = 60.0
GOOD = b'{"type":"move","id":"a","match":"m","move":{"type":"play","card":1},"expected_version":1}'
# How the gateway may end a socket whose frames break the protocol: by what is wrong with them.
BROKEN = {1002, 1003, 1007, 1009}

Said = dict[str, object]
Sending = Callable[[ClientConnection], None]


@asynccontextmanager
async def conversation(url: str, token: str) -> AsyncIterator[ClientConnection]:
    """A greeted socket, which takes frames as they are."""
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(f"{url.replace('http', 'ws', 1)}/v1/live", additional_headers=headers) as socket:
        assert json.loads(await socket.recv())["type"] == "hello"
        yield socket


def raw(*frames: tuple[Opcode, bytes, bool]) -> Sending:
    """Sends frames that a library would not. Of each: opcode, payload, whether its message ends there."""

    def send(socket: ClientConnection) -> None:
        for opcode, payload, is_last in frames:
            socket.transport.write(Frame(opcode, payload, fin=is_last).serialize(mask=True))

    return send


TEXT, BINARY, MORE, PING, PONG = Opcode.TEXT, Opcode.BINARY, Opcode.CONT, Opcode.PING, Opcode.PONG
BREAKING: dict[str, Sending] = {
    "invalid UTF-8": raw((TEXT, b"\xff\xfe", True)),
    "half a character": raw((TEXT, b'{"type":"\xc3', True)),
    "a continuation of nothing": raw((MORE, b"x", True)),
    "a message within a message": raw((TEXT, b"{", False), (TEXT, b"}", True)),
    "a ping in pieces": lambda socket: socket.transport.write(b"\x09\x81\0\0\0\0x"),
    "a ping that is too large": lambda socket: socket.transport.write(b"\x89\xfe\0\xc8\0\0\0\0" + b"x" * 200),
    "ten megabytes": raw((TEXT, b"x" * 10_000_000, True)),
    "ten megabytes in pieces": raw((TEXT, b"x", False), *[(MORE, b"x" * 50_000, False)] * 200),
    "an opcode that is none": lambda socket: socket.transport.write(b"\x83\x80\0\0\0\0"),
    "reserved bits": lambda socket: socket.transport.write(b"\xf1\x80\0\0\0\0"),
    "no mask": lambda socket: socket.transport.write(b"\x81\x02{}"),
    "a length of eight bytes": lambda socket: socket.transport.write(b"\x81\xff" + b"\x7f" + b"\xff" * 7),
}


@pytest.mark.parametrize("how", BREAKING)
async def test_a_broken_frame_ends_its_own_socket_by_a_code_of_the_protocol(system, site, redis, how: str):
    player = await site.player()
    before, living = await stored(redis), pids(system)
    async with conversation(system.url, player.token) as other:
        async with conversation(system.url, player.token) as socket:
            BREAKING[how](socket)
            code = await _end(socket)
            # What is still on its way when the gateway hangs up may cost the client the close frame.
            assert code in BROKEN or (code == 1006 and "megabytes" in how)
        assert await _is_answered(other)
    assert pids(system) == living
    assert changed(before, await stored(redis)) == []


async def test_a_frame_that_is_no_order_is_answered_by_a_problem_and_its_socket_goes_on(system, site, redis):
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    players = await site.players(2)
    match = await gathered(players, "make_way")
    before, living = await stored(redis), pids(system)
    frames = [body for body in _frames(rng, match) if len(body) <= FRAME_BYTES_MAX]
    async with conversation(system.url, players[0].token) as socket:
        for body in frames:
            for opcode in (TEXT, BINARY) if _is_text(body) else (BINARY,):
                await _send_in_pieces(socket, opcode, body, rng)
                problem = await _problem(socket)
                assert problem["status"] in range(400, 500), (body[:100], problem)
                assert "Traceback" not in str(problem)
        assert await _is_answered(socket)
    assert pids(system) == living
    assert changed(before, await stored(redis)) == []


async def test_a_flood_of_pings_ends_its_connection_and_disturbs_nobody_else(system, site):
    player = await site.player()
    living = pids(system)
    async with (
        conversation(system.url, player.token) as other,
        conversation(system.url, player.token) as socket,
    ):
        for _ in range(200):
            raw(*[(PING, b"x" * 100, True)] * 100, *[(PONG, b"", True)] * 100)(socket)
            await asyncio.sleep(0)
        assert await _is_answered(other)
        assert await _end(socket) in (1008, 1006)
    assert pids(system) == living


async def test_a_flood_of_empty_texts_over_many_sockets_disturbs_nobody_else(system, site):
    flooding, honest = await site.players(2)
    living = pids(system)
    async with AsyncExitStack() as open_sockets, conversation(system.url, honest.token) as other:
        for _ in range(15):
            socket = await open_sockets.enter_async_context(conversation(system.url, flooding.token))
            raw(*[(TEXT, b"", True)] * 340)(socket)
        assert await _is_answered(other)
    assert pids(system) == living


async def test_a_message_that_never_ends_is_cut_off_at_the_size_of_one(system, site):
    player = await site.player()
    async with conversation(system.url, player.token) as socket:
        raw((TEXT, b"x", False))(socket)
        with suppress(ConnectionError):
            while socket.close_code is None and not socket.transport.is_closing():
                raw((MORE, b"x" * 1_000, False))(socket)
                await asyncio.sleep(0.001)
        assert await _end(socket) == 1009


def _frames(rng: random.Random, match: str) -> Iterator[bytes]:
    yield from BODIES
    good = GOOD.replace(b'"match":"m"', f'"match":"{match}"'.encode())
    for _ in range(RUINED):
        yield ruined(rng, good)
    for field, value in (("match", "x" * 129), ("id", "x" * 65), ("request_id", "\u0000"), ("unknown", 1)):
        yield json.dumps(json.loads(good) | {field: value}).encode()
    for number in (2**53 + 2, 2**63, 2**64, -1, 10**300):
        yield json.dumps(json.loads(good) | {"expected_version": number}).encode()
    for kind in ("answer_draw", "answer_takeback"):
        answer = {"type": kind, "match": match, "offer": 2**64, "request": 2**64, "accept": True}
        yield json.dumps(answer).encode()
    yield json.dumps({"type": "follow", "match": match, "after": 2**63}).encode()
    yield json.dumps({"type": "follow", "match": "*.>"}).encode()


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


async def _send_in_pieces(socket: ClientConnection, opcode: Opcode, body: bytes, rng: random.Random) -> None:
    at = rng.randrange(len(body) + 1) if opcode is BINARY else 0
    if at:
        raw((opcode, body[:at], False), (MORE, body[at:], True))(socket)
    else:
        raw((opcode, body, True))(socket)


async def _problem(socket: ClientConnection) -> Said:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            said: Said = json.loads(await socket.recv())
            if said["type"] == "problem":
                return said
            assert said["type"] == "head", said


async def _is_answered(socket: ClientConnection) -> bool:
    """Whether an honest frame still gets its answer."""
    await socket.send('{"type":"follow","id":"honest","match":"nope"}')
    async with asyncio.timeout(PATIENCE_S):
        while True:
            said = json.loads(await socket.recv())
            if said.get("id") == "honest":
                return bool(said["reason"] == "NO_SUCH_MATCH")


async def _end(socket: ClientConnection) -> int | None:
    """The code that the gateway closed the socket with."""
    async with asyncio.timeout(PATIENCE_S):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code
