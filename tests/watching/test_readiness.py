"""What the probes say while parts of the system are away: real processes, really killed."""

import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from deploy.local.servers import free_port
from gateway.readiness import Readiness
from services.kit.directory import Directory
from tests.waiting import wait_until
from tests.watching.conftest import PATIENCE_S, UNLIMITED, Watched
from tests.watching.table import begun

pytestmark = pytest.mark.slow

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICES = {
    "rules-make_way-1": "waystation.rules.v1.RulesService",
    "lobby-1": "waystation.lobby.v1.LobbyService",
    "projection-1": "waystation.projection.v1.ProjectionService",
}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    system = Watched(
        data=tmp_path_factory.mktemp("probed"),
        workers={"make_way": 1, "wayfare": 1},
        ports=[free_port()],
        env=UNLIMITED,
    )
    system.start()
    yield system
    system.stop()


def asked(system: Watched, path: str) -> httpx.Response:
    return httpx.get(f"{system.url}{path}", timeout=PATIENCE_S)


def says(system: Watched, status: str, **told: object) -> bool:
    """Whether /readyz answers with `status` and, among the rest, with what is `told`."""
    answer = asked(system, "/readyz")
    assert answer.status_code == (200 if answer.json()["status"] in ("ready", "degraded") else 503)
    return answer.json()["status"] == status and told.items() <= answer.json().items()


def lives_and_stays(system: Watched) -> bool:
    """Whether the gateway lives, and keeps its place in its Service."""
    paths = ("/healthz", "/readyz?except=outages")
    return [asked(system, path).status_code for path in paths] == [200, 200]


def health(system: Watched, process: str, service: str) -> int:
    """What the process answers to a gRPC health check of `service`; without a name, of itself."""
    (address,) = [line["address"] for line in system.lines(process) if line["event"] == "service_started"][
        -1:
    ]
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE_S)
    return int(answer.status)


def test_with_everything_there_it_is_ready(system: Watched) -> None:
    wait_until(lambda: says(system, "ready", redis="there"))
    assert asked(system, "/readyz").json()["titles"] == {"make_way": "there", "wayfare": "there"}
    assert lives_and_stays(system)
    for process, service in SERVICES.items():
        assert health(system, process, service) == health(system, process, "") == SERVING


def test_without_redis_it_says_so_and_nobody_is_taken_for_dead(system: Watched) -> None:
    assert system.valkey is not None
    system.valkey.kill()
    try:
        wait_until(lambda: says(system, "unavailable", redis="away"))
        assert lives_and_stays(system)
        for process, service in SERVICES.items():
            wait_until(lambda asked=(process, service): health(system, *asked) == NOT_SERVING)
            assert health(system, process, "") == SERVING
        refused = httpx.post(f"{system.url}/v1/players", timeout=PATIENCE_S)
        assert (refused.status_code, refused.json()["reason"]) == (503, "STORE_UNAVAILABLE")
    finally:
        system.valkey.start()
    wait_until(lambda: says(system, "ready"))
    for process, service in SERVICES.items():
        wait_until(lambda asked=(process, service): health(system, *asked) == SERVING)


def test_without_nats_it_is_ready_and_play_goes_on(system: Watched) -> None:
    assert system.nats is not None
    with httpx.Client(base_url=system.url, timeout=PATIENCE_S) as client:
        table = begun(client)
        system.nats.kill()
        try:
            assert says(system, "ready", redis="there")
            assert lives_and_stays(system)
            assert table.move().status_code == 200
            for process, service in SERVICES.items():
                assert health(system, process, service) == SERVING
        finally:
            system.nats.start()
    wait_until(lambda: says(system, "ready"))


def test_without_a_worker_only_its_title_is_away(system: Watched) -> None:
    worker = system.services["rules-wayfare-1"]
    worker.kill()
    try:
        titles = {"make_way": "there", "wayfare": "away"}
        wait_until(lambda: says(system, "degraded", titles=titles))
        assert lives_and_stays(system)
    finally:
        worker.start()
    wait_until(lambda: says(system, "ready"))


@pytest.mark.parametrize(("service", "status"), [("lobby", "unavailable"), ("projection", "degraded")])
def test_without_a_service_it_names_the_one_that_is_away(system: Watched, service: str, status: str) -> None:
    process = system.services[f"{service}-1"]
    process.kill()
    try:
        others = dict.fromkeys(("lobby", "projection"), "there")
        wait_until(lambda: says(system, status, services={**others, service: "away"}))
        assert lives_and_stays(system)
    finally:
        process.start()
    wait_until(lambda: says(system, "ready"))


def test_a_gateway_that_has_never_seen_a_lobby_gets_no_requests(system: Watched) -> None:
    """So a release that cannot see its services never replaces one that can."""
    lobby = system.services["lobby-1"]
    lobby.kill()
    wait_until(lambda: says(system, "unavailable"))
    port = free_port()
    newcomer = system._service("gateway-new", "gateway", PORT=str(port))
    newcomer.start()

    def answers(path: str, status: int) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S).status_code == status
        except httpx.TransportError:
            return False

    try:
        wait_until(lambda: answers("/healthz", 200))
        assert answers("/readyz?except=outages", 503)
        assert lives_and_stays(system)
        lobby.start()
        wait_until(lambda: answers("/readyz?except=outages", 200))
    finally:
        newcomer.kill()
        if lobby.exit_code is not None:
            lobby.start()
    wait_until(lambda: says(system, "ready"))


def test_a_gateway_that_stops_asks_for_no_more_requests() -> None:
    everything = SimpleNamespace(is_current=True, titles=dict, service=lambda name: "127.0.0.1:1")
    readiness = Readiness(cast(Directory, everything))
    assert readiness.standing().is_ready
    readiness.is_stopping = True
    standing = readiness.standing()
    assert standing.status == "stopping"
    assert not standing.is_ready
    assert not standing.is_ready_but_for_outages


def test_a_gateway_told_to_stop_answers_until_it_is_gone_and_never_again(system: Watched) -> None:
    """Comes last: the gateway is gone afterwards."""
    gateway = system.services["gateway-1"]
    assert gateway.process is not None
    with httpx.Client(base_url=system.url, timeout=PATIENCE_S) as client:
        assert client.get("/readyz").status_code == 200
        gateway.process.send_signal(signal.SIGTERM)
        told = []
        try:
            while True:
                told.append(client.get("/readyz").json()["status"])
        except httpx.TransportError:
            pass
    assert set(told) <= {"ready", "stopping"}
    assert sorted(told) == told, "it is not ready again once it stops"
    wait_until(lambda: gateway.exit_code is not None)
    assert gateway.exit_code == 0
