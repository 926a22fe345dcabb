"""`python -m services.lobby` as a process of its own, on real servers."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import msgspec
import nats
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import ServiceDown
from services.kit.announce import LIVE
from services.kit.directory import REFRESH_S
from tests.lobby.hosting import Player, Site, site_on, types_of
from tests.waiting import until

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
Started = dict[str, str]


@contextmanager
def lobby(redis_url: str, nats_url: str, **env: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "services.lobby"],
        env={**os.environ, "REDIS_URL": redis_url, "NATS_URL": nats_url, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def started(process: "subprocess.Popen[bytes]") -> Started:
    """The line that says where it listens."""
    assert process.stdout is not None
    for raw in process.stdout:
        line: Started = msgspec.json.decode(raw)
        if line["event"] == "service_started":
            return line
    raise AssertionError("it never started")


def stopped(process: "subprocess.Popen[bytes]") -> int:
    """Its exit code after SIGTERM."""
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    return process.returncode


@pytest.mark.anyio
async def test_a_table_made_through_a_process_reaches_the_bus(lobby_redis_url: str, nats_url: str) -> None:
    async with site_on(lobby_redis_url, lobbies=0) as site:
        with lobby(lobby_redis_url, nats_url) as process:
            address = (await asyncio.to_thread(started, process))["address"]  # the worker goes on announcing
            await site.directory.refresh()
            assert site.directory.service("lobby") == address
            table = (await Player(site.channels, address, "ann").creates()).table
            assert await first_event_on(nats_url, table.match) == ("table_created", f"table/{table.match}")
            assert await asyncio.to_thread(stopped, process) == 0
            await site.directory.refresh()
            with pytest.raises(ServiceDown):
                site.directory.service("lobby")


async def first_event_on(nats_url: str, match: str) -> tuple[str, str]:
    """(type, stream) of the first event of `match` that the bus has kept."""
    client = await nats.connect(nats_url)
    try:
        follower = await client.jetstream().subscribe(f"events.lobby.*.{match}", ordered_consumer=True)
        message = await follower.next_msg(timeout=20)
    finally:
        await client.close()
    event = PublishedEvent.FromString(message.data)
    return msgspec.json.decode(event.event)["type"], event.stream


def test_it_starts_and_stops_without_nats(lobby_redis_url: str) -> None:
    with lobby(lobby_redis_url, "nats://127.0.0.1:1") as process:
        address = started(process)["address"]
        with grpc.insecure_channel(address) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            answer = health.Check(health_pb2.HealthCheckRequest(), timeout=10)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert stopped(process) == 0


def test_a_start_that_cannot_succeed_is_one_line(lobby_redis_url: str, nats_url: str) -> None:
    with lobby(lobby_redis_url, nats_url) as first:
        address = started(first)["address"]
        for env, says in (
            ({"PORT": address.rpartition(":")[2]}, "cannot listen"),
            ({"REDIS_URL": "redis://127.0.0.1:1"}, "store"),
        ):
            with lobby(lobby_redis_url, nats_url, **env) as second:
                _, err = second.communicate(timeout=20)
                assert second.returncode == 1
                (line,) = err.decode().splitlines()
                assert line.startswith("lobby: ")
                assert says in line


@pytest.mark.anyio
async def test_a_lobby_killed_between_seal_and_start_has_its_match_started_by_the_next(
    lobby_redis_url: str, nats_url: str
) -> None:
    async with site_on(lobby_redis_url, lobbies=0, workers=0) as site:
        worker = await site.add_worker()
        with socket.create_server(("127.0.0.1", 0)) as silent, lobby(lobby_redis_url, nats_url) as first:
            address = (await asyncio.to_thread(started, first))["address"]
            match = (await Player(site.channels, address, "ann").creates()).table.match
            await worker.stop()
            await site.announce(f"127.0.0.1:{silent.getsockname()[1]}")
            await asyncio.sleep(2 * REFRESH_S)  # until the lobby knows of the silent worker alone
            last = asyncio.create_task(Player(site.channels, address, "bob").takes(match))
            await until(lambda: has_events(site, match, 3))
            first.kill()
            with pytest.raises(ServiceDown):
                await last
        assert types_of(await site.events(match))[-1] == "table_sealed"
        assert await site.starts_of(match) == 0
        await site.redis.delete(LIVE)
        await site.add_worker()
        with lobby(lobby_redis_url, nats_url):
            await until(lambda: has_started(site, match))
        assert await site.starts_of(match) == 1


async def has_events(site: Site, match: str, number: int) -> bool:
    return len(await site.events(match)) == number


async def has_started(site: Site, match: str) -> bool:
    return await site.starts_of(match) > 0
