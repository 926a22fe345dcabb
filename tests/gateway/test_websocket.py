"""What is written to sockets without the library, read by the library."""

import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from gateway.whole_frames import head_of_text


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 65_535, 65_536, 200_000])
def test_a_text_of_any_length_is_one_whole_frame(length: int) -> None:
    client = ClientProtocol(parse_uri("ws://127.0.0.1/"), state=OPEN)
    text = b"x" * length
    client.receive_data(head_of_text(length) + text + head_of_text(2) + b"ok")
    assert client.events_received() == [Frame(Opcode.TEXT, text), Frame(Opcode.TEXT, b"ok")]
