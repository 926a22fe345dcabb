"""The gateway as a process: its port, its metrics, and peers that misbehave below HTTP."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import redis
import uvicorn

from deploy.local.servers import Valkey, free_port
from deploy.local.system import ROOT, System
from gateway import http as http_module
from gateway.http import HEAD_BYTES_MAX, HttpProtocol
from tests.gateway.playing import Guest, Start
from tests.gateway.wire import PATIENCE_S, raw
from tests.waiting import wait_until


def start_with(**env: str) -> subprocess.CompletedProcess[str]:
    """A gateway that is expected to give up."""
    command = [sys.executable, "-m", "gateway"]
    return subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, timeout=30, cwd=ROOT, check=False
    )


def test_a_taken_port_is_told_in_one_line(system: System) -> None:
    failed = start_with(PORT=str(system.ports[0]), REDIS_URL=system.redis_url)
    assert failed.returncode == 1
    assert failed.stderr.splitlines() == [
        f"gateway: cannot listen on 127.0.0.1:{system.ports[0]}: Address already in use"
    ]


def test_a_store_that_is_not_there_is_told_in_one_line() -> None:
    failed = start_with(PORT="0", REDIS_URL=f"redis://127.0.0.1:{free_port()}")
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1
    assert "store" in failed.stderr


@pytest.mark.parametrize(("setting", "value"), [("appendonly", "no"), ("maxmemory-policy", "allkeys-lru")])
def test_a_store_that_may_lose_events_is_told_in_one_line(tmp_path: Path, setting: str, value: str) -> None:
    with Valkey(tmp_path) as valkey:
        redis.Redis.from_url(valkey.url).config_set(setting, value)
        failed = start_with(PORT="0", REDIS_URL=valkey.url)
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1
    assert failed.stderr.startswith("gateway: Redis is not safe: ")
    assert setting in failed.stderr
    assert "REDIS_UNSAFE=1" in failed.stderr


def test_an_address_of_the_store_that_is_none_is_told_in_one_line() -> None:
    failed = start_with(PORT="0", REDIS_URL="nonsense://here")
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1
    assert failed.stderr.startswith("gateway: REDIS_URL must look like ")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PORT", "http"), ("RATE_PER_PLAYER", "-1"), ("TRUSTED_PROXIES", "10.0.0.0/8,home")],
)
def test_a_setting_that_cannot_be_used_is_named_in_one_line(variable: str, value: str) -> None:
    failed = start_with(**{variable: value})
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1
    assert variable in failed.stderr


def test_probes_and_metrics_are_served(client: httpx.Client) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    Guest(client)
    metrics = client.get("/metrics").text
    assert 'http_duration_seconds_count{method="POST",route="/v1/players",status="201"}' in metrics
    assert "live_connections" in metrics


def test_metrics_name_routes_and_never_matches(client: httpx.Client) -> None:
    client.get("/v1/matches/a_match_of_ours")
    client.get("/a_path_of_ours")
    metrics = client.get("/metrics").text
    assert 'route="/v1/matches/{match}"' in metrics
    assert "of_ours" not in metrics


def test_a_client_that_leaves_in_the_middle_of_a_move_is_no_fault_of_ours(
    start_gateway: Start, guests: tuple[Guest, Guest]
) -> None:
    gateway = start_gateway()
    head = f"POST /v1/matches/m/moves HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {guests[0].token}\r\n"
    with socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2]))) as client:
        client.sendall(f"{head}content-length: 50\r\n\r\n{{".encode())
    counted = 'http_duration_seconds_count{method="POST",route="/v1/matches/{match}/moves",status="%d"}'
    wait_until(lambda: counted % 400 in httpx.get(f"{gateway.url}/metrics").text)
    assert counted % 500 not in httpx.get(f"{gateway.url}/metrics").text


def test_the_page_for_people_loads_nothing_from_elsewhere(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "/v1/quick-matches" in page.text
    for loading in ("http://", "https://", "<script", "<link", "@import", "url("):
        assert loading not in page.text


def test_every_reason_has_a_page(client: httpx.Client) -> None:
    links = [part.partition(">")[0] for part in client.get("/errors").text.split("<a href=")[1:]]
    assert "/errors/move-illegal" in links
    for link in [*links, "/errors/not-found", "/errors/method-not-allowed"]:
        assert client.get(link).status_code == 200, link
    assert client.get("/errors/nonsense").status_code == 404


@pytest.mark.parametrize("part", [b"x-long: %s\r\n", b"%s", b"x-many: y\r\n" + b"z: %s"])
def test_a_head_without_end_is_cut_off(system: System, part: bytes) -> None:
    endless = part % (b"a" * 2 * HEAD_BYTES_MAX)
    assert raw(system, b"GET /healthz HTTP/1.1\r\nhost: x\r\n", endless, b"a").startswith(b"HTTP/1.1 431 ")


def get_with(header_bytes: int, *lines: bytes) -> bytes:
    """A request with a header of that size."""
    about = (b"GET /healthz HTTP/1.1", b"host: x", b"x-long: " + b"a" * header_bytes, *lines)
    return b"\r\n".join((*about, b"", b""))


@pytest.mark.parametrize("endless", [b"0\r\nx: ", b"1;x="], ids=["a trailer", "a chunk's extension"])
def test_what_goes_with_the_parts_of_a_body_has_an_end(system: System, endless: bytes) -> None:
    head = b"POST /v1/players HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    assert b"HTTP/1.1 431 " in raw(system, head, endless + b"a" * 50_000, b"a" * 50_000)


@pytest.mark.parametrize(("header_bytes", "status"), [(20_000, b"200"), (40_000, b"431"), (100_000, b"431")])
def test_a_head_in_one_write_is_bounded_as_well(system: System, header_bytes: int, status: bytes) -> None:
    answer = raw(system, get_with(header_bytes, b"connection: close"))
    assert answer.split(b" ", 2)[1] == status


def test_heads_that_come_together_are_counted_one_by_one(system: System) -> None:
    answer = raw(system, 3 * get_with(20_000) + get_with(20_000, b"connection: close"))
    assert answer.count(b"HTTP/1.1 200 OK") == 4


def test_a_body_in_one_write_with_its_head_is_no_part_of_it(system: System) -> None:
    head = b"POST /v1/players HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 60000\r\n\r\n"
    assert raw(system, head + b" " * 60_000).startswith(b"HTTP/1.1 201 ")


def test_what_comes_behind_an_upgrade_is_no_http(system: System) -> None:
    about = (
        *(b"GET /v1/live HTTP/1.1", b"host: x", b"connection: upgrade", b"upgrade: websocket"),
        *(b"sec-websocket-version: 13", b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="),
        *[b"x-long: " + b"a" * 4_000] * 3,
    )
    upgrade = b"\r\n".join((*about, b"", b""))
    with socket.create_connection(("127.0.0.1", system.ports[0]), timeout=PATIENCE_S) as peer:
        peer.sendall(upgrade + 100 * get_with(100))
        answer = peer.recv(65536)
        assert answer.startswith(b"HTTP/1.1 101 ")
        peer.sendall(b"\x88\x80aaaa")  # a close frame
        while part := peer.recv(65536):
            answer += part
    assert answer.count(b"HTTP/1.1") == 1


def test_an_upgrade_to_what_is_not_spoken_here_is_a_request_like_others(system: System) -> None:
    upgrade = get_with(5_000, b"connection: upgrade, close", b"upgrade: h2c")
    answer = raw(system, upgrade + b"what they speak there" * 1_000)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1


def test_what_is_no_http_is_a_problem_as_well(system: System) -> None:
    answer = raw(system, b"hello there\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in answer


def test_a_body_that_is_longer_than_announced_or_never_ends_is_refused(system: System) -> None:
    head = b"POST /v1/matches HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    assert b" 413 " in raw(system, head + b"content-length: 99999999\r\n\r\n").split(b"\r\n")[0]
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    answer = raw(system, head + b"transfer-encoding: chunked\r\n\r\n", chunk, chunk, chunk)
    assert answer.split(b" ")[1] in (b"401", b"413")


@pytest.mark.anyio
async def test_a_request_that_never_ends_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "REQUEST_S_MAX", 0.2)
    began: list[str] = []

    async def application(scope: object, receive: object, send: object) -> None:
        began.append("a request")
        await asyncio.sleep(PATIENCE_S)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(application, http=HttpProtocol, lifespan="off", log_config=None)  # type: ignore[arg-type]
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listener]))
        await asyncio.to_thread(wait_until, lambda: server.started)
        for sent in (b"", b"GET / HT", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n12"):
            reading, writing = await asyncio.open_connection(*listener.getsockname())
            writing.write(sent)
            async with asyncio.timeout(PATIENCE_S / 2):
                assert await reading.read() == b""
            writing.close()
        server.should_exit = True
        server.force_exit = True
        await serving


def test_an_address_that_asks_too_often_is_told_when_to_come_back(start_gateway: Start) -> None:
    gateway = start_gateway(RATE_PER_ADDRESS="0.001", BURST_PER_ADDRESS="30", TRUSTED_PROXIES="127.0.0.0/8")
    with httpx.Client(base_url=gateway.url) as client:

        def ask(address: str) -> httpx.Response:
            return client.get("/v1/titles", headers={"X-Forwarded-For": address})

        wait_until(lambda: ask("198.51.100.1").status_code == 429)
        refused = ask("198.51.100.1")
        assert refused.json()["reason"] == "TOO_MANY_REQUESTS"
        assert 500 < int(refused.headers["Retry-After"]) <= 1_000  # until there is a token again
        assert ask("198.51.100.2").status_code == 200
        assert client.get("/healthz", headers={"X-Forwarded-For": "198.51.100.1"}).status_code == 200


def test_a_new_identity_costs_more_than_a_read(start_gateway: Start) -> None:
    gateway = start_gateway(RATE_PER_ADDRESS="0.001", BURST_PER_ADDRESS="25", TRUSTED_PROXIES="127.0.0.1")
    with httpx.Client(base_url=gateway.url, headers={"X-Forwarded-For": "198.51.100.9"}) as client:
        statuses = [client.post("/v1/players").status_code for _ in range(4)]
    assert statuses == [201, 201, 429, 429]
