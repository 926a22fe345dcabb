"""Frames that are read without the library: what comes out is what the library would have read."""

import asyncio
from collections import Counter
from itertools import accumulate
from typing import Any

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from gateway import websocket
from gateway.websocket import WebSocketProtocol
from gateway.whole_frames import FRAMES_MAX, Walk, text_of

TEXTS = st.text(max_size=300).map(str.encode) | st.binary(min_size=120, max_size=130).map(bytes.hex).map(
    str.encode
)


def written(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin=fin).serialize(mask=True)


def text(data: bytes) -> list[bytes]:
    return [written(Opcode.TEXT, data)]


def ping(data: bytes) -> list[bytes]:
    return [written(Opcode.PING, data[:125])]


def in_parts(data: bytes) -> list[bytes]:
    """A message in two fragments with a ping between them."""
    first, rest = data[: len(data) // 2], data[len(data) // 2 :]
    return [written(Opcode.TEXT, first, fin=False), *ping(b"?"), written(Opcode.CONT, rest)]


MESSAGES = st.lists(
    TEXTS.flatmap(lambda data: st.sampled_from([text(data), ping(data), in_parts(data)])), max_size=8
)


@given(TEXTS)
def test_a_whole_text_is_unmasked(data: bytes) -> None:
    frame = written(Opcode.TEXT, data)
    assert text_of(frame) == data
    assert Walk().ends_with(frame)
    assert Walk().ends_with(frame + written(Opcode.PING, b"?"))


@given(TEXTS, st.data())
def test_a_part_of_a_frame_or_more_than_one_is_left_to_the_library(data: bytes, draw: st.DataObject) -> None:
    frame = written(Opcode.TEXT, data)
    end = draw.draw(st.integers(0, len(frame) - 1))
    assert text_of(frame[:end]) is None
    assert Walk().ends_with(frame[:end]) is (end == 0)
    assert text_of(frame + frame[: end + 1]) is None


@pytest.mark.parametrize(
    "frame",
    [
        written(Opcode.BINARY, b"abc"),
        written(Opcode.PING, b"abc"),
        written(Opcode.TEXT, b"abc", fin=False),
        Frame(Opcode.TEXT, b"abc").serialize(mask=False),
        b"\xc1" + written(Opcode.TEXT, b"abc")[1:],
    ],
    ids=["binary", "ping", "fragment", "unmasked", "compressed"],
)
def test_any_other_frame_is_left_to_the_library(frame: bytes) -> None:
    assert text_of(frame) is None


@given(MESSAGES, st.lists(st.integers(1, 400), max_size=20))
def test_a_walk_tells_the_ends_of_frames_however_they_are_cut(
    messages: list[list[bytes]], cuts: list[int]
) -> None:
    frames = [frame for message in messages for frame in message]
    ends = {0, *accumulate(map(len, frames))}
    chunks, walk = _cut(b"".join(frames), cuts), Walk()
    assert [walk.ends_with(chunk) for chunk in chunks] == [
        end in ends for end in accumulate(map(len, chunks))
    ]


@pytest.mark.parametrize(
    "lost",
    [
        Frame(Opcode.TEXT, b"abc").serialize(mask=False),
        written(Opcode.TEXT, b"x" * 65_536),
        written(Opcode.TEXT, b"") * (FRAMES_MAX + 1),
    ],
    ids=["unmasked", "length in eight bytes", "too many"],
)
def test_a_walk_that_is_lost_never_ends_again(lost: bytes) -> None:
    walk = Walk()
    assert not any(walk.ends_with(chunk) for chunk in [lost, written(Opcode.TEXT, b"abc"), b""])


@given(MESSAGES, st.lists(st.integers(1, 400), max_size=20))
def test_the_short_way_reads_what_the_library_reads(messages: list[list[bytes]], cuts: list[int]) -> None:
    sent = b"".join(frame for message in messages for frame in message)
    chunks = [*_cut(sent, cuts)]
    assert asyncio.run(heard(chunks, short=True)) == asyncio.run(heard(chunks, short=False))


@pytest.mark.parametrize("with_handshake", [False, True])
def test_what_lies_within_another_frame_is_no_frame(with_handshake: bool) -> None:
    inner = written(Opcode.TEXT, b"hello")
    head = bytes((0x80 | Opcode.BINARY, 0x80 | len(inner))) + bytes(4)  # this mask changes nothing
    chunks = [head, inner, written(Opcode.TEXT, b"bye")]
    assert asyncio.run(heard(chunks, short=True, joined=with_handshake)) == [inner, b"bye"]


@pytest.mark.parametrize("size", [1, 200, 3_000, 60_000])
def test_a_peer_whose_frame_came_in_parts_is_back_on_the_short_way_with_the_next(size: int) -> None:
    frame, hello, parsed = written(Opcode.TEXT, b"x" * size), written(Opcode.TEXT, b"hello"), []
    chunks = [frame[:3], frame[3:6], frame[6:] + hello, hello, hello]
    assert asyncio.run(heard([*chunks], short=True, parsed=parsed)) == [b"x" * size, *[b"hello"] * 3]
    assert b"".join(parsed) == frame + hello


def test_a_text_within_a_message_in_parts_ends_the_connection() -> None:
    chunks = [written(Opcode.TEXT, b"half", fin=False), written(Opcode.TEXT, b"hello")]
    assert asyncio.run(heard(chunks, short=True)) == []


def test_others_have_their_turn_between_two_messages_of_one_peer() -> None:
    turns: list[int] = []
    flood = [written(Opcode.TEXT, b"") * 300]
    asyncio.run(heard(flood, short=True, turns=turns))
    assert len(turns) == 300
    assert max(Counter(turns).values()) <= 2


def _cut(sent: bytes, cuts: list[int]) -> list[bytes]:
    chunks = []
    for size in cuts:
        chunks.append(sent[:size])
        sent = sent[size:]
    return [chunk for chunk in [*chunks, sent] if chunk]


async def heard(
    chunks: list[bytes],
    *,
    short: bool,
    joined: bool = False,
    turns: list[int] | None = None,
    parsed: list[bytes] | None = None,
) -> list[bytes]:
    """What an application hears of a client that sends `chunks`; `joined`: the first with the handshake.

    `turns`: gets the number of the loop's turn in which each is heard. `parsed`: gets what the library does.
    """
    texts: list[bytes] = []
    turn = 0

    async def keep_counting() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(keep_counting())

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        hear = scope["extensions"][websocket.HEAR]["now"]
        while (message := await hear())["type"] == "websocket.receive":
            texts.append(message["bytes"])
            if turns is not None:
                turns.append(turn)

    config = uvicorn.Config(app, lifespan="off", log_config=None, ws_per_message_deflate=False)
    config.load()
    protocol = WebSocketProtocol(config, ServerState(), {})
    protocol.connection_made(_Deaf())
    client = ClientProtocol(parse_uri("ws://127.0.0.1/"))
    client.send_request(client.connect())
    handshake = b"".join(client.data_to_send())
    protocol.data_received(handshake + (chunks.pop(0) if joined else b""))
    await _turns()
    if parsed is not None:
        _note_parsed(protocol, parsed)
    for chunk in chunks:
        if not short:
            protocol._is_between_frames = False
        protocol.data_received(chunk)
        await _turns()
    await _turns(0 if turns is None else 1_000)
    protocol.connection_lost(None)
    await _turns()
    counting.cancel()
    return texts


def _note_parsed(protocol: WebSocketProtocol, parsed: list[bytes]) -> None:
    receive_data = protocol.conn.receive_data

    def noted(data: bytes) -> None:
        parsed.append(data)
        receive_data(data)

    protocol.conn.receive_data = noted


async def _turns(number: int = 12) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


class _Deaf(asyncio.Transport):
    """Takes everything and sends nothing."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def write(self, data: Any) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def close(self) -> None:
        pass
