"""The connection to NATS: nobody waits for it, and it always comes back."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.servers import Nats
from services.kit.bus import Bus, nats_login
from tests.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[Nats]:
    """A server of the test's own, to be killed."""
    with Nats(tmp_path) as server:
        yield server


async def reached(bus: Bus) -> None:
    """Returns once NATS answers through `bus`. Fails after 20 s."""
    async with asyncio.timeout(20):
        client = await bus.connected()
        await client.flush()


@pytest.mark.parametrize(
    ("url", "login"),
    [
        ("nats://host:4222", (None, None)),
        ("nats://token@host:4222", (None, None)),
        ("nats://ann:p%2Fw%40d@host:4222,nats://ann:p%2Fw%40d@other", ("ann", "p/w@d")),
    ],
)
async def test_a_login_may_hold_what_a_url_must_encode(
    url: str, login: tuple[str | None, str | None]
) -> None:
    assert nats_login(url) == login


async def test_a_start_does_not_wait_for_nats(nats_server: Nats) -> None:
    nats_server.stop()
    bus = Bus(nats_server.url, "test")
    bus.start()
    await asyncio.sleep(0.1)  # for a first attempt that finds nobody
    assert not bus.is_connected
    nats_server.start()
    await reached(bus)
    assert bus.is_connected
    await bus.stop()
    assert not bus.is_connected


async def test_a_killed_nats_is_found_again(nats_server: Nats) -> None:
    bus = Bus(nats_server.url, "test")
    bus.start()
    await reached(bus)
    nats_server.kill()
    await until(lambda: not bus.is_connected)
    nats_server.start()
    await reached(bus)
    await bus.stop()


async def test_any_server_of_several_will_do(nats_server: Nats) -> None:
    bus = Bus(f"nats://127.0.0.1:1, {nats_server.url}", "test")
    bus.start()
    await reached(bus)
    await bus.stop()


async def test_a_client_that_nats_has_turned_out_is_replaced(nats_server: Nats) -> None:
    bus = Bus(nats_server.url, "test")
    bus.start()
    client = await bus.connected()
    client._max_payload = 2**30  # or nats-py itself would refuse what the server ends a connection for
    await client.publish("too.large", bytes(2_000_000))
    await until(lambda: client.is_closed)
    await reached(bus)
    assert await bus.connected() is not client
    await bus.stop()


async def test_a_bus_that_never_connected_stops_at_once() -> None:
    bus = Bus("nats://127.0.0.1:1", "test")
    bus.start()
    await asyncio.sleep(0.1)
    async with asyncio.timeout(5):
        await bus.stop()


@pytest.mark.parametrize(
    "url", ["localhost:4222", "http://localhost", "nats://", "nats://a,", "nats://a,b:4222"]
)
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="NATS_URL"):
        Bus(url, "test")
