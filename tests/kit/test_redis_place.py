"""What a REDIS_URL says, and whom Sentinels are believed to have named."""

import asyncio

import pytest

from services.core.errors import StoreUnavailable
from services.kit.redis_place import redis_place

pytestmark = pytest.mark.anyio


def test_a_plain_url_names_one_server_and_who_asks() -> None:
    place = redis_place("rediss://player:p%40ss@redis.example:7000/3")
    assert (place.addresses, place.primary_name) == ((("redis.example", 7000),), "")
    assert (place.user, place.password, place.database, place.is_tls) == ("player", "p@ss", 3, True)


def test_a_sentinel_url_names_all_of_them_and_the_group() -> None:
    place = redis_place("redis+sentinel://:secret@one,two:5000,[::1]:5001/games/2?sentinel_password=other")
    assert place.addresses == (("one", 26379), ("two", 5000), ("::1", 5001))
    assert (place.primary_name, place.database, place.is_tls) == ("games", 2, False)
    assert (place.user, place.password, place.sentinel_password) == ("default", "secret", "other")


def test_what_is_shown_of_a_place_has_no_password() -> None:
    assert redis_place("redis://:secret@one").shown == "one:6379"


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://one,two",
        "redis+sentinel:///games",
        "redis://one,two",
        "redis://one/games",
        "redis+sentinel://one/games/2/3",
        "redis://one:port",
        "sentinel://one/games",
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="REDIS_URL"):
        redis_place(url)


async def sentinel(answer: bytes) -> asyncio.Server:
    """A stand-in that answers every question with `answer`, and hangs up on nobody."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            writer.write(answer)
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


def naming(port: int) -> bytes:
    return b"*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%d\r\n" % (len(str(port)), port)


@pytest.mark.parametrize(
    ("answers", "named"),
    [
        ([naming(1), naming(2), naming(2)], 2),  # the first was cut off and still names the one of before
        ([b"*-1\r\n", b"", naming(3)], 3),  # one knows no such group, one says nothing
        ([b"-NOAUTH Authentication required.\r\n", naming(4)], 4),
        ([b"220 mail.example ESMTP\r\n", naming(5)], 5),
    ],
)
async def test_the_primary_is_whom_most_sentinels_name(answers: list[bytes], named: int) -> None:
    servers = [await sentinel(answer) for answer in answers]
    hosts = ",".join(f"127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers)
    assert await redis_place(f"redis+sentinel://{hosts}/games").primary() == ("127.0.0.1", named)
    for server in servers:
        server.close()


async def test_no_sentinel_at_all_is_an_outage() -> None:
    with pytest.raises(StoreUnavailable, match="Sentinel"):
        await redis_place("redis+sentinel://127.0.0.1:1,127.0.0.1:2/games").primary()
