"""The whole system as processes, once for all tests here: real servers, lobby, rules, projection, gateway."""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from deploy.local.servers import free_port
from deploy.local.system import Service, System
from tests.gateway.contract import Contract
from tests.gateway.playing import ADMIN_TOKEN, Gateway, Guest, Start, ready

TITLES = {"make_way": 2, "wayfare": 1}
UNLIMITED = {"RATE_PER_ADDRESS": "0", "RATE_PER_PLAYER": "0", "ADMIN_TOKEN": ADMIN_TOKEN}


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    system = System(
        data=tmp_path_factory.mktemp("system"), workers=TITLES, ports=[free_port()], env=UNLIMITED
    )
    system.start()
    yield system
    system.stop()


@pytest.fixture(scope="module")
def contract(system: System) -> Contract:
    """What the gateway says of itself."""
    return Contract(httpx.get(f"{system.url}/openapi.json").json())


@pytest.fixture
def client(system: System, contract: Contract) -> Iterator[httpx.Client]:
    """Every answer it gets is checked against the OpenAPI document."""
    with httpx.Client(base_url=system.url, timeout=10, event_hooks={"response": [contract.check]}) as client:
        yield client


@pytest.fixture
def guests(client: httpx.Client) -> tuple[Guest, Guest]:
    return Guest(client), Guest(client)


@pytest.fixture
def start_gateway(system: System) -> Iterator[Start]:
    """Starts one more gateway with settings of its own."""
    with ExitStack() as stopping:

        def start(**env: str) -> Gateway:
            port = free_port()
            name = f"gateway-{port}"
            where = {"REDIS_URL": system.redis_url, "PORT": str(port)}
            log = system.data / "logs" / f"{name}.log"
            service = Service(name, "gateway", {**where, **UNLIMITED, **env}, log)
            service.start()
            stopping.callback(service.kill)
            return ready(Gateway(f"http://127.0.0.1:{port}", service))

        yield start
