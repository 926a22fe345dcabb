"""Handshakes that are refused: each by an answer that says why, and none is a fault of the gateway."""

import json
from typing import Any

import pytest
from litestar import Litestar, WebSocket, websocket
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.uri import parse_uri

from deploy.local.system import System
from gateway.handshakes import answering, log_fault
from tests.gateway.contract import Contract
from tests.gateway.playing import Gateway, Start
from tests.gateway.sockets import live
from tests.gateway.wire import raw

pytestmark = pytest.mark.anyio

NOWHERE = ["/v1/nothing", "/v1/matches/m/view", "/v1/live/more", "/docs", "/errors/bad-request", "/"]


async def refused(url: str, path: str, **options: Any) -> tuple[int, str]:
    """Status and reason of the problem that the handshake is answered with."""
    with pytest.raises(InvalidStatus) as refusal:
        async with connect(url.replace("http", "ws", 1) + path, **options):
            pass
    answer = refusal.value.response
    problem = json.loads(answer.body)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (problem["status"], problem["instance"]) == (answer.status_code, path)
    return answer.status_code, problem["reason"]


def complaints(gateway: Gateway) -> list[str]:
    """What its log holds of warnings and errors once it has ended."""
    process = gateway.service.process
    assert process is not None
    process.terminate()
    process.wait()
    lines = gateway.service.log.read_text().splitlines()
    return [line for line in lines if json.loads(line)["level"] not in ("debug", "info")]


async def test_a_handshake_on_a_path_without_a_live_connection_finds_nothing(
    start_gateway: Start, contract: Contract
) -> None:
    gateway = start_gateway()
    for template in [*NOWHERE, *contract.document["paths"]]:
        path = template.format(match="m", title="t", player="p", offer="1", takeback="1")
        assert await refused(gateway.url, path) == (404, "NOT_FOUND"), path
    assert complaints(gateway) == []


async def test_a_handshake_that_comes_too_often_leaves_no_complaint(start_gateway: Start) -> None:
    gateway = start_gateway(RATE_PER_ADDRESS="0.001", BURST_PER_ADDRESS="1")
    async with live(gateway.url):
        pass
    assert await refused(gateway.url, "/v1/live") == (429, "TOO_MANY_REQUESTS")
    assert complaints(gateway) == []


def test_a_handshake_for_a_host_that_is_none_is_a_bad_request(system: System) -> None:
    request = ClientProtocol(parse_uri("ws://127.0.0.1/v1/live")).connect()
    del request.headers["Host"]
    request.headers["Host"] = "a b"
    status, _, rest = raw(system, request.serialize()).partition(b"\r\n")
    assert status == b"HTTP/1.1 400 Bad Request"
    assert json.loads(rest.partition(b"\r\n\r\n")[2])["detail"] == "request: Invalid host header"


@pytest.mark.parametrize("fault", [ZeroDivisionError(), ConnectionResetError()])
async def test_a_fault_in_a_handshake_is_logged_and_a_peer_that_has_gone_is_not(fault: Exception) -> None:
    @websocket("/")
    async def failing(socket: WebSocket[Any, Any, Any]) -> None:
        raise fault

    sent: list[Any] = []
    scope: Any = {"type": "websocket", "path": "/", "headers": [], "state": {}}

    async def send(message: Any) -> None:
        sent.append(message)

    app = Litestar([failing], after_exception=[log_fault], logging_config=None)
    with capture_logs() as logged:
        await app(scope, receive=send, send=answering(scope, send))
    assert sent[0]["status"] == 500
    assert [line["exc_info"] for line in logged] == ([fault] if isinstance(fault, ZeroDivisionError) else [])
