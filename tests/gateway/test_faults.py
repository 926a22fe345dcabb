"""What clients see when parts behind the gateway go away: at worst an answer that says "later"."""

import asyncio
import os
import random
import re
import signal
import socket as socket_module
from collections.abc import Callable, Iterator

import httpx
import pytest

from deploy.local.servers import free_port
from deploy.local.system import Service, System
from tests.gateway.conftest import UNLIMITED
from tests.gateway.playing import Guest, Start, any_move, begun, play_on
from tests.gateway.sockets import live
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

Guests = tuple[Guest, Guest]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """One of our own, to break."""
    data = tmp_path_factory.mktemp("breakable")
    system = System(data=data, workers={"make_way": 2, "wayfare": 1}, ports=[free_port()], env=UNLIMITED)
    system.start()
    yield system
    system.stop()


@pytest.fixture
def lone_worker(system: System, guests: Guests) -> Iterator[int]:
    """The process id of the one worker of wayfare; alive again afterwards."""
    worker = system.services["rules-wayfare-1"]
    yield worker.pid
    if worker.exit_code is not None:
        worker.start()
    else:
        os.kill(worker.pid, signal.SIGCONT)
    wait_until(lambda: guests[0].post("/v1/matches", {"title": "wayfare"}).status_code == 201)


def _is_available(system: System, slug: str) -> bool:
    titles = httpx.get(f"{system.url}/v1/titles").json()["titles"]
    return any(title["slug"] == slug and title["available"] for title in titles)


async def test_without_nats_moves_reach_sockets_as_they_do_with_it(system: System, guests: Guests) -> None:
    assert system.nats is not None
    match = begun(guests)
    async with live(system.url, f"/v1/matches/{match}/live", guests[0].token) as socket:
        await socket.next("view")
        system.nats.kill()
        try:
            play_on(guests, match, 3, random.Random(1))
            await socket.until(lambda frame: frame.get("version") == 4)
            assert guests[0].view(match)["version"] == 4
        finally:
            system.nats.restart()
        pushed = [frame["version"] for frame in socket.frames if frame["type"] == "event"]
        assert pushed == [2, 3, 4]


async def test_a_killed_worker_costs_no_move(system: System, guests: Guests) -> None:
    matches = [begun(guests) for _ in range(6)]
    luck = random.Random(2)

    def play(rounds: int) -> list[int]:
        statuses = []
        for match in matches * rounds:
            mover, move, version = any_move(guests, match, luck)
            statuses.append(mover.move(match, move, version).status_code)
        return statuses

    assert set(play(2)) == {200}
    playing = asyncio.create_task(asyncio.to_thread(play, 8))
    await asyncio.sleep(0.3)
    victim = system.services["rules-make_way-1"]
    victim.kill()
    assert not playing.done()
    assert set(await playing) == {200}
    victim.start()
    assert {guests[0].view(match)["version"] for match in matches} == {11}


async def test_without_a_worker_the_answer_is_to_come_back_later(
    system: System, guests: Guests, lone_worker: int
) -> None:
    match = begun(guests, title="wayfare", options={"size": 6})
    mover, move, version = any_move(guests, match, random.Random(3))
    os.kill(lone_worker, signal.SIGKILL)
    answer = mover.move(match, move, version, key="k")
    assert answer.status_code == 503
    assert answer.json()["reason"] in ("SERVICE_DOWN", "TITLE_DOWN")
    assert int(answer.headers["Retry-After"]) >= 1
    wait_until(lambda: not _is_available(system, "wayfare"))
    gone = mover.move(match, move, version, key="k")
    assert (gone.status_code, gone.json()["reason"]) == (503, "TITLE_DOWN")
    system.services["rules-wayfare-1"].start()
    wait_until(lambda: mover.move(match, move, version, key="k").status_code == 200)
    assert mover.view(match)["version"] == version + 1


async def test_a_worker_that_hangs_costs_a_deadline_and_the_request_can_be_repeated(
    system: System, guests: Guests, lone_worker: int
) -> None:
    match = begun(guests, title="wayfare", options={"size": 6})
    mover, move, version = any_move(guests, match, random.Random(4))
    os.kill(lone_worker, signal.SIGSTOP)
    answer = mover.move(match, move, version, key="k")
    assert (answer.status_code, answer.json()["reason"]) == (504, "DEADLINE")
    os.kill(lone_worker, signal.SIGCONT)
    wait_until(lambda: mover.move(match, move, version, key="k").status_code == 200)
    assert mover.view(match)["version"] == version + 1


async def test_a_worker_that_drains_hands_over_without_a_refusal(system: System, guests: Guests) -> None:
    match = begun(guests, title="wayfare", options={"size": 6})
    luck = random.Random(5)
    play_on(guests, match, 2, luck)
    second = system.add_worker("wayfare")
    wait_until(lambda: _starts(second) == 1)
    await asyncio.sleep(2.5)  # until every gateway knows of it
    for name in ("rules-wayfare-1", second.name):
        worker = system.services[name]
        os.kill(worker.pid, signal.SIGTERM)
        assert len(play_on(guests, match, 10, luck)) == 10
        wait_until(lambda worker=worker: worker.exit_code is not None)  # type: ignore[misc]
        assert worker.exit_code == 0
        before = _starts(worker)
        worker.start()
        wait_until(lambda worker=worker, before=before: _starts(worker) > before)  # type: ignore[misc]
        await asyncio.sleep(2.5)


def _starts(service: Service) -> int:
    """How often the service has come to serve, by its log."""
    return service.log.read_text().count('"event":"service_started"')


async def test_without_the_lobby_known_matches_go_on(system: System, guests: Guests) -> None:
    match = begun(guests)
    lobby = system.services["lobby-1"]
    lobby.kill()
    try:
        assert len(play_on(guests, match, 2, random.Random(6))) == 2
        refused = guests[0].post("/v1/matches", {"title": "make_way"})
        assert (refused.status_code, refused.json()["reason"]) == (503, "SERVICE_DOWN")
        wait_until(lambda: httpx.get(f"{system.url}/readyz").status_code == 503)
    finally:
        lobby.start()
    wait_until(lambda: httpx.get(f"{system.url}/readyz").status_code == 200)
    wait_until(lambda: guests[0].post("/v1/matches", {"title": "make_way"}).status_code == 201)


async def test_a_match_that_began_here_needs_no_lobby_from_then_on(system: System, guests: Guests) -> None:
    host, other = guests
    match = host.create(title="make_way")["match"]
    assert other.post(f"/v1/matches/{match}/seats").json()["status"] == "starting"
    workers = [service for name, service in system.services.items() if name.startswith("rules-make_way")]
    wait_until(lambda: any(match in worker.log.read_text() for worker in workers))  # it has begun
    lobby = system.services["lobby-1"]
    lobby.kill()
    try:
        assert len(play_on(guests, match, 2, random.Random(7))) == 2
    finally:
        lobby.start()
    wait_until(lambda: host.post("/v1/matches", {"title": "make_way"}).status_code == 201)


async def test_without_the_store_nothing_is_accepted_and_afterwards_play_goes_on(
    system: System, guests: Guests
) -> None:
    assert system.valkey is not None
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(7))
    await asyncio.sleep(1.5)  # appendfsync everysec: what is there is on disk
    system.valkey.kill()
    answer = mover.move(match, move, version, key="k")
    assert answer.status_code in (503, 504)
    assert answer.json()["reason"] in ("STORE_UNAVAILABLE", "SERVICE_DOWN", "DEADLINE")
    assert guests[0].post("/v1/players").json()["reason"] == "STORE_UNAVAILABLE"
    system.valkey.restart()
    wait_until(lambda: mover.move(match, move, version, key="k").status_code == 200)
    assert mover.view(match)["version"] == version + 1


async def test_a_gateway_that_stops_says_bye_and_another_one_goes_on(
    system: System, guests: Guests, start_gateway: Start
) -> None:
    host, _ = guests
    match = begun(guests)
    play_on(guests, match, 2, random.Random(8))
    stopping = start_gateway()
    path = f"/v1/matches/{match}/live"
    async with httpx.AsyncClient(timeout=10) as client, live(stopping.url, path, host.token) as socket:
        await socket.next("view")
        async with client.stream("GET", f"{stopping.url}{path}.sse", headers=host.headers) as stream:
            lines = stream.aiter_lines()
            while not (await anext(lines)).startswith("data:"):
                pass
            os.kill(stopping.service.pid, signal.SIGTERM)
            bye = await socket.next("bye")
            assert bye["resume"] == {match: 3}
            assert (await socket.closed())[0] == 1012
            assert "event: bye" in [line async for line in lines]
    wait_until(lambda: stopping.service.exit_code is not None)
    assert stopping.service.exit_code == 0
    play_on(guests, match, 2, random.Random(9))
    async with live(system.url, f"{path}?after={bye['resume'][match]}", host.token) as socket:
        assert [(await socket.next("event"))["version"] for _ in range(2)] == [4, 5]


@pytest.fixture
def stopped_workers(system: System) -> Iterator[Callable[[str], None]]:
    """Stops all workers of a title where they stand; they go on afterwards."""
    stopped: list[int] = []

    def stop(slug: str) -> None:
        workers = [service for name, service in system.services.items() if name.startswith(f"rules-{slug}-")]
        stopped.extend(worker.pid for worker in workers if worker.exit_code is None)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)

    yield stop
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)


async def test_a_gateway_that_stops_says_so_to_those_whom_it_cannot_answer_any_more(
    guests: Guests, start_gateway: Start, stopped_workers: Callable[[str], None]
) -> None:
    match = begun(guests, title="wayfare", options={"size": 6})
    stopping = start_gateway()
    path = f"{stopping.url}/v1/matches/{match}"
    mover, move, version = any_move(guests, match, random.Random(10))
    body = {"move": move, "expected_version": version}
    async with httpx.AsyncClient(timeout=30) as client:
        assert (await client.get(path, headers=mover.headers)).status_code == 200
        stopped_workers("wayfare")
        sent = asyncio.create_task(
            client.post(f"{path}/moves", json=body, headers={**mover.headers, "Idempotency-Key": "slow"})
        )
        await asyncio.sleep(1)  # until it is under way; the gateway waits for five seconds
        os.kill(stopping.service.pid, signal.SIGTERM)
        answer = await sent
    assert answer.headers["Content-Type"] == "application/problem+json"
    # The worker's own deadline may be over first on a busy machine; then that is what it says.
    assert answer.json()["reason"] in ("SERVICE_DOWN", "DEADLINE")
    assert answer.json()["request_id"] == "slow"


async def test_a_client_that_does_not_read_is_dropped_and_told_to_resume(
    system: System, guests: Guests
) -> None:
    match = begun(guests)
    already = _slow_readers(system)
    with socket_module.socket() as slow:
        slow.setsockopt(socket_module.SOL_SOCKET, socket_module.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", system.ports[0]))
        async with live(
            system.url, token=guests[0].token, sock=slow, max_queue=1, compression=None, ping_interval=None
        ) as socket:
            frame = '{"type":"hello"}'
            for _ in range(300):
                for _ in range(200):  # each is answered: that was said already
                    await socket.connection.send(frame)
                if _slow_readers(system) > already:  # to read any earlier would make it a good client
                    break
            slow.setsockopt(socket_module.SOL_SOCKET, socket_module.SO_RCVBUF, 1 << 20)
            code, reason = await socket.closed()
    assert (code, "after" in reason) == (4008, True)
    assert guests[0].view(match)["status"] == "running"


def _slow_readers(system: System) -> float:
    metrics = httpx.get(f"{system.url}/metrics", timeout=30).text
    return float(re.search(r"^live_slow_readers_total (\S+)$", metrics, re.MULTILINE)[1])  # type: ignore[index]
