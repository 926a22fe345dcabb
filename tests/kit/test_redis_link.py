"""One connection for all: what it promises when Redis is slow, gone, or not Redis."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import pytest

from deploy.local.servers import Valkey
from services.core.errors import Overloaded, StoreUnavailable
from services.kit.redis_link import TRIP_COMMANDS_MAX, RedisLink
from services.kit.redis_resp import command
from tests.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    """A server of the test's own, to be killed."""
    with Valkey(tmp_path) as valkey:
        yield valkey
        valkey.resume()


@pytest.fixture
async def link(valkey_url: str) -> AsyncIterator[RedisLink]:
    link = RedisLink(valkey_url)
    yield link
    await link.close()


async def test_answers_go_to_those_who_asked(link: RedisLink) -> None:
    questions = 3 * TRIP_COMMANDS_MAX + 5
    answers = await asyncio.gather(*(link.call("ECHO", number) for number in range(questions)))
    assert answers == [b"%d" % number for number in range(questions)]


async def test_a_caller_that_gives_up_does_not_shift_the_answers(link: RedisLink) -> None:
    await link.call("PING")
    first, second, third = (asyncio.ensure_future(link.call("ECHO", text)) for text in "abc")
    await asyncio.sleep(0)
    second.cancel()
    assert (await first, await third) == (b"a", b"c")


async def test_an_error_reply_is_not_the_neighbours_problem(link: RedisLink) -> None:
    wrong, right = link.ask(command("NO_SUCH_COMMAND")), link.ask(command("ECHO", "x"))
    assert [str(reply).partition(" ")[0] for reply in await wrong] == ["ERR"]
    assert await right == [b"x"]


async def test_a_full_queue_refuses_and_names_its_limit(valkey_url: str) -> None:
    link = RedisLink(valkey_url, waiting_max=10)
    accepted = [link.ask(command("PING")) for _ in range(10)]
    with pytest.raises(Overloaded) as refusal:
        link.ask(command("PING"))
    assert refusal.value.facts == {"what": "the store's queue", "limit": 10, "retry_after_s": 1}
    assert await asyncio.gather(*accepted) == [[b"PONG"]] * 10
    assert await link.call("PING") == b"PONG"
    await link.close()


async def test_a_silent_server_is_given_up_and_asked_again_later(valkey: Valkey) -> None:
    link = RedisLink(valkey.url, trip_s_max=0.2)
    await link.call("PING")
    valkey.pause()
    travelling = asyncio.ensure_future(link.call("INCR", "n"))
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(link.call("INCR", "n"))
    for outcome in await asyncio.gather(travelling, waiting, return_exceptions=True):
        assert isinstance(outcome, StoreUnavailable)
    valkey.resume()
    assert await link.call("PING") == b"PONG"
    await link.close()


async def test_a_killed_server_fails_what_travels_and_is_found_again(valkey: Valkey) -> None:
    link, other = RedisLink(valkey.url), RedisLink(valkey.url)
    await link.call("PING")
    blocked = asyncio.ensure_future(link.call("BLPOP", "nothing", 60))

    async def is_there() -> bool:
        return b"blocked_clients:1" in cast(bytes, await other.call("INFO", "clients"))

    await until(is_there, "the command has reached the server")
    valkey.kill()
    with pytest.raises(StoreUnavailable, match="outcome is unknown"):
        await blocked
    with pytest.raises(StoreUnavailable):
        await link.call("PING")
    valkey.start()
    assert await link.call("PING") == b"PONG"
    await link.close()
    await other.close()


async def test_a_peer_that_is_not_redis_is_an_outage() -> None:
    async def greet_wrongly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(greet_wrongly, "127.0.0.1", 0) as server:
        link = RedisLink(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(StoreUnavailable):
            await link.call("PING")
        await link.close()


async def test_what_too_few_replicas_have_is_written_and_not_told(valkey_url: str) -> None:
    alone, careful = RedisLink(valkey_url), RedisLink(valkey_url, replicas=1)
    key = f"told-{id(careful)}"
    with pytest.raises(StoreUnavailable, match="replicas have it; the outcome is unknown"):
        await careful.call("SET", key, 1)
    with pytest.raises(StoreUnavailable, match="replicas"):
        await careful.call("GET", key)
    assert await alone.call("GET", key) == b"1"
    for each in (alone, careful):
        await each.close()


async def test_user_password_and_database_of_the_url_are_used(valkey: Valkey) -> None:
    admin = RedisLink(valkey.url)
    await admin.call("ACL", "SETUSER", "player", "on", ">p@ss", "~*", "+@all")
    place = valkey.url.removeprefix("redis://")
    link = RedisLink(f"redis://player:p%40ss@{place}/3")
    assert await link.call("ACL", "WHOAMI") == b"player"
    await link.call("SET", "here", 1)
    assert await admin.call("EXISTS", "here") == 0
    intruder = RedisLink(f"redis://player:wrong@{place}")
    with pytest.raises(StoreUnavailable, match="WRONGPASS"):
        await intruder.call("PING")
    for each in (admin, link, intruder):
        await each.close()


async def test_a_closed_link_refuses_and_lets_nobody_wait(valkey_url: str) -> None:
    link = RedisLink(valkey_url)
    asked = link.ask(command("PING"))
    await link.close()
    with pytest.raises(StoreUnavailable, match="closing"):
        await asked
    with pytest.raises(StoreUnavailable, match="closing"):
        await link.call("PING")


@pytest.mark.parametrize("url", ["localhost:6379", "http://localhost", "redis://"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="REDIS_URL"):
        RedisLink(url)
