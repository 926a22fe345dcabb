"""Commands without a body: what is sent in its place is read first, and anything at all is refused."""

import re
import socket
from inspect import signature

import httpx
import pytest
from litestar.handlers import HTTPRouteHandler

from deploy.local.system import System
from gateway.app import HANDLERS
from gateway.limits import BODY_BYTES_MAX
from tests.gateway.playing import Guest, Start, begun
from tests.gateway.test_refusals import refused
from tests.gateway.wire import PATIENCE_S, raw
from tests.waiting import wait_until

Guests = tuple[Guest, Guest]
COMMANDS = sorted(
    (str(method), path, handler.handler_name)
    for handler in HANDLERS
    if isinstance(handler, HTTPRouteHandler) and "body" not in signature(handler.fn).parameters
    for method in handler.http_methods - {"GET", "HEAD", "OPTIONS"}
    for path in handler.paths
)
every_command = pytest.mark.parametrize(
    ("method", "path"), [command[:2] for command in COMMANDS], ids=[command[2] for command in COMMANDS]
)
NO_BODIES = [b"", b" \r\n\t ", b"{}", b" { } "]
# And the field that the refusal names.
BODIES = {
    **dict.fromkeys([b"null", b"[]", b"0", b'""', b"{", b"{}{}", b"x", b"\xff"], "body"),
    **dict.fromkeys([b'{"seat":1}', b'{"seat":1,"zzz":\xff'], "seat"),
}


def at(path: str, match: str) -> str:
    """`path` with its parameters filled in."""
    return re.sub(r"\{\w+:\w+\}", "1", path.replace("{match:str}", match))


def head(method: str, path: str, guest: Guest, *lines: str) -> bytes:
    about = ("host: x", "connection: close", f"authorization: Bearer {guest.token}", *lines)
    return "\r\n".join((f"{method} {path} HTTP/1.1", *about, "", "")).encode()


def status_of(answer: bytes) -> bytes:
    return answer.split(b" ", 2)[1]


def test_the_commands_without_a_body_are_found() -> None:
    names = {name for _, _, name in COMMANDS}
    assert names >= {"create_player", "leave_seat", "start_table", "resign", "offer_draw", "request_takeback"}


@every_command
def test_a_body_that_is_not_asked_for_is_refused(guests: Guests, method: str, path: str) -> None:
    host, _ = guests
    match = begun(guests)
    before = host.view(match)
    for body, field in BODIES.items():
        answer = host.client.request(method, at(path, match), content=body, headers=host.headers)
        assert refused(answer, 400, "BAD_REQUEST")["field"] == field
    too_large = b" " * (BODY_BYTES_MAX + 1)
    answer = host.client.request(method, at(path, match), content=too_large, headers=host.headers)
    assert refused(answer, 413, "TOO_LARGE")["limit"] == BODY_BYTES_MAX
    assert host.view(match) == before


@every_command
def test_a_body_is_refused_by_its_length_before_it_comes(
    system: System, guests: Guests, method: str, path: str
) -> None:
    match = begun(guests)
    before = guests[0].view(match)
    answer = raw(system, head(method, at(path, match), guests[0], "content-length: 10000000"))
    assert status_of(answer) == b"413"
    assert b'"reason":"TOO_LARGE"' in answer
    assert guests[0].view(match) == before


def test_a_body_without_a_length_is_refused_once_it_is_too_long(system: System, guests: Guests) -> None:
    match = begun(guests)
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    path = f"/v1/matches/{match}/resignation"
    answer = raw(system, head("POST", path, guests[0], "transfer-encoding: chunked") + 3 * chunk)
    assert status_of(answer) == b"413"
    assert guests[0].view(match)["status"] == "running"


@pytest.mark.parametrize("body", NO_BODIES)
def test_nothing_may_be_sent_in_words(guests: Guests, client: httpx.Client, body: bytes) -> None:
    host, _ = guests
    assert client.post("/v1/players", content=body).status_code == 201
    table = f"/v1/matches/{host.create()['match']}/seats/me"
    assert client.request("DELETE", table, content=body, headers=host.headers).status_code == 200
    path = f"/v1/matches/{begun(guests)}/resignation"
    assert client.post(path, content=body, headers=host.headers).status_code == 200


@pytest.mark.parametrize("sent", [b"", b" ", b"{}"])
def test_a_client_that_leaves_in_the_middle_of_a_body_resigns_nothing(
    start_gateway: Start, guests: Guests, sent: bytes
) -> None:
    gateway = start_gateway()
    match = begun(guests)
    with socket.create_connection(("127.0.0.1", int(gateway.url.rpartition(":")[2]))) as client:
        path = f"/v1/matches/{match}/resignation"
        client.sendall(head("POST", path, guests[0], "content-length: 50") + sent)
    counted = 'route="/v1/matches/{match}/resignation",status="400"}'
    wait_until(lambda: counted in httpx.get(f"{gateway.url}/metrics").text, PATIENCE_S)
    assert guests[0].view(match)["status"] == "running"
