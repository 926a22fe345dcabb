"""HEAD wherever there is GET, and what a path says of the methods that it has."""

import random
from collections.abc import Iterator

import httpx
import pytest

from deploy.local.system import System
from gateway.app import HANDLERS
from tests.gateway.playing import Guest, Start, begun, play_on
from tests.gateway.wire import PATIENCE_S, raw
from tests.waiting import wait_until

Guests = tuple[Guest, Guest]

# Of a stream the length is not known; `date` is of the moment.
OF_THE_BODY = {"transfer-encoding", "date"}
GET_PATHS = sorted({
    path
    for handler in HANDLERS
    if "GET" in getattr(handler, "http_methods", ())
    for path in handler.paths
    if not path.endswith(("/live.sse", "/live"))
})  # fmt: skip


def kept(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in OF_THE_BODY}


@pytest.fixture
def over(guests: Guests) -> str:
    """A match that is over."""
    match = begun(guests)
    play_on(guests, match, 3, random.Random(1))
    assert guests[0].post(f"/v1/matches/{match}/resignation").status_code == 200
    return match


def at(path: str, match: str, guest: Guest) -> str:
    named = {"match": match, "title": "make_way", "player": guest.player, "name": "not-over"}
    for parameter, value in named.items():
        path = path.replace(f"{{{parameter}:str}}", value)
    return path


@pytest.mark.parametrize("path", GET_PATHS)
def test_a_head_is_the_answer_to_a_get_without_its_body(guests: Guests, over: str, path: str) -> None:
    path = at(path, over, guests[0])
    asked = guests[0].client.get(path, headers=guests[0].headers)
    head = guests[0].client.head(path, headers=guests[0].headers)
    assert asked.status_code < 400
    assert (head.status_code, head.content) == (asked.status_code, b"")
    if path == "/metrics":  # counts what it is asked for
        assert head.headers["content-type"] == asked.headers["content-type"]
    else:
        assert kept(head) == kept(asked)
    assert "content-length" in head.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/matches/nosuch", 404),
        ("/v2/nothing", 404),
        ("/v1/titles?form=3", 400),
        ("/v1/players", 405),
        ("/v1/live", 426),
        ("/v1/matches/{match}/live?after=3", 426),
        ("/v1/matches/{match}/events?from=-1", 400),
        ("/v1/matches/{match}?version=99999", 404),
    ],
)
def test_a_head_is_refused_as_a_get_is(guests: Guests, over: str, path: str, status: int) -> None:
    path = path.replace("{match}", over)
    asked, head = guests[0].get(path), guests[0].client.head(path, headers=guests[0].headers)
    assert (asked.status_code, head.status_code, head.content) == (status, status, b"")
    assert kept(head) == kept(asked)
    assert head.headers["content-type"] == "application/problem+json"


def test_who_comes_to_a_live_path_without_a_handshake_is_told_what_it_is_for(client: httpx.Client) -> None:
    answer = client.get("/v1/matches/m/live?after=3")
    assert (answer.status_code, answer.json()["reason"]) == (426, "UPGRADE_REQUIRED")
    assert (answer.headers["Upgrade"], answer.headers["Connection"]) == ("websocket", "Upgrade")
    assert client.get(answer.json()["type"]).status_code == 200


def test_a_head_is_told_that_nothing_has_changed(guests: Guests, over: str) -> None:
    path = f"/v1/matches/{over}"
    etag = guests[0].client.head(path, headers=guests[0].headers).headers["ETag"]
    again = guests[0].client.head(path, headers={**guests[0].headers, "If-None-Match": etag})
    assert (again.status_code, again.headers["ETag"]) == (304, etag)


def test_a_head_has_no_byte_behind_it_on_the_wire(system: System) -> None:
    head = b"HEAD /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n"
    get = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    first, second = raw(system, head + get).split(b"HTTP/1.1 ")[1:]
    assert first.startswith(b"200 ")
    assert first.endswith(b"\r\n\r\n")
    assert first.count(b"\r\n\r\n") == 1
    assert second.startswith(b"200 ")
    assert second.endswith(b"alive\n")


def test_a_head_of_a_stream_of_events_ends_and_leaves_no_connection_behind(
    start_gateway: Start, guests: Guests
) -> None:
    gateway = start_gateway(SOCKETS="1")
    match = begun(guests)
    path = f"{gateway.url}/v1/matches/{match}/live.sse"
    for _ in range(3):  # each needs the only place there is
        wait_until(lambda: httpx.head(path).status_code == 200, within_s=PATIENCE_S)
    head = httpx.head(path)
    with httpx.stream("GET", path) as asked:
        assert (head.status_code, kept(head)) == (asked.status_code, kept(asked))
    assert head.headers["content-type"].startswith("text/event-stream")
    assert "did not" not in gateway.service.log.read_text()
    assert "Traceback" not in gateway.service.log.read_text()


def test_a_head_is_counted_at_its_route(start_gateway: Start) -> None:
    gateway = start_gateway()
    httpx.head(f"{gateway.url}/v1/titles/make_way")
    counted = 'http_duration_seconds_count{method="HEAD",route="/v1/titles/{title}",status="200"} 1.0'
    assert counted in httpx.get(f"{gateway.url}/metrics").text


def methods() -> Iterator[tuple[str, list[str]]]:
    """Every path, and the methods that its handlers are for."""
    found: dict[str, set[str]] = {}
    for handler in HANDLERS:
        for path in handler.paths if hasattr(handler, "http_methods") else ():
            found.setdefault(path, {"OPTIONS"}).update(map(str, handler.http_methods))
    for path, named in sorted(found.items()):
        yield path, sorted(named | ({"HEAD"} if "GET" in named else set()))


@pytest.mark.parametrize(("path", "allowed"), list(methods()))
def test_a_path_says_which_methods_it_has(
    guests: Guests, client: httpx.Client, path: str, allowed: list[str]
) -> None:
    path = at(path, "m", guests[0])
    refused, asked = client.put(path), client.options(path)
    assert (refused.status_code, refused.json()["reason"]) == (405, "METHOD_NOT_ALLOWED")
    assert (asked.status_code, asked.content) == (204, b"")
    assert refused.headers["Allow"] == asked.headers["Allow"] == ", ".join(allowed)
