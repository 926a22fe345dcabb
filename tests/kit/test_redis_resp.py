import pytest

from services.core.errors import StoreUnavailable
from services.kit.redis_resp import RedisRefused, Reply, ReplyReader, command, settled

REPLIES: list[tuple[bytes, Reply]] = [
    (b":12\r\n", 12),
    (b":-1\r\n", -1),
    (b"+PONG\r\n", b"PONG"),
    (b"$5\r\na\r\nbc\r\n", b"a\r\nbc"),
    (b"$0\r\n\r\n", b""),
    (b"$-1\r\n", None),
    (b"*-1\r\n", None),
    (b"*0\r\n", []),
    (b"*2\r\n$1\r\na\r\n*2\r\n:1\r\n*1\r\n$-1\r\n", [b"a", [1, [None]]]),
    (b"*2\r\n*0\r\n:7\r\n", [[], 7]),
]


def test_a_command_carries_its_parts_with_their_lengths_in_bytes() -> None:
    assert (
        command("SET", "ä", 17, b"\r\n") == b"*4\r\n$3\r\nSET\r\n$2\r\n\xc3\xa4\r\n$2\r\n17\r\n$2\r\n\r\n\r\n"
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_replies_are_the_same_wherever_the_chunks_end(size: int) -> None:
    stream = b"".join(raw for raw, _ in REPLIES)
    reader = ReplyReader()
    read = [
        reply for start in range(0, len(stream), size) for reply in reader.feed(stream[start : start + size])
    ]
    assert read == [reply for _, reply in REPLIES]


def test_an_error_reply_is_a_value_and_is_raised_as_an_outage() -> None:
    (reply,) = ReplyReader().feed(b"-OOM command not allowed\r\n")
    assert isinstance(reply, RedisRefused)
    assert reply.code == "OOM"
    with pytest.raises(StoreUnavailable, match="OOM"):
        settled(reply)


@pytest.mark.parametrize("garbage", [b"HTTP/1.1 400 Bad Request\r\n", b":x\r\n", b"*x\r\n", b"$\r\n"])
def test_what_is_not_redis_is_noticed(garbage: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        ReplyReader().feed(garbage)
