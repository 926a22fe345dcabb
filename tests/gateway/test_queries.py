"""A query parameter that an operation does not have is refused by name, wherever it is sent."""

import random
from typing import Any

import httpx
import pytest
from litestar import Litestar, Response, get
from litestar.params import FromQuery
from litestar.testing import TestClient

from deploy.local.system import System
from gateway.queries import NAME_CHARACTERS_MAX, require_known_query
from gateway.requests import AnyRequest
from gateway.says import says
from services.core.errors import BadRequest
from tests.gateway.contract import Contract
from tests.gateway.playing import Guest, any_move, begun
from tests.gateway.sockets import live

Guests = tuple[Guest, Guest]
UNREADABLE = 4000


def unknown(answer: httpx.Response, name: str) -> dict[str, Any]:
    """The problem, which must name the parameter."""
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["reason"], problem["field"]) == (400, "BAD_REQUEST", name), problem
    assert "no query parameter" in problem["detail"]
    return problem


def repeated(answer: httpx.Response, name: str) -> None:
    """Fails unless the answer is a problem that names the parameter as repeated."""
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["reason"], problem.get("field")) == (400, "BAD_REQUEST", name), (
        problem
    )
    assert "more than once" in problem["detail"]


def test_every_operation_refuses_a_parameter_that_it_does_not_have(
    contract: Contract, client: httpx.Client
) -> None:
    for template, methods in contract.document["paths"].items():
        path = template.format(match="m", title="t", player="p", offer="1", takeback="1")
        for method in methods:
            unknown(client.request(method, path, params={"form": "3"}), "form")


def test_every_parameter_of_the_document_is_known(contract: Contract, client: httpx.Client) -> None:
    for template, methods in contract.document["paths"].items():
        path = template.format(match="m", title="t", player="p", offer="1", takeback="1")
        for method, operation in methods.items():
            named = {each["name"] for each in operation["parameters"] if each["in"] == "query"}
            answer = client.request(method, path, params=dict.fromkeys(named, "nonsense"))
            assert "no query parameter" not in answer.text


def test_a_misspelt_parameter_is_told_which_there_are(guests: Guests) -> None:
    match = begun(guests)
    problem = unknown(guests[0].get(f"/v1/matches/{match}/events?form=3"), "form")
    assert problem["detail"].endswith("there are from, to")


def test_a_move_with_a_parameter_is_refused_and_nothing_is_stored(guests: Guests) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(1))
    sent = {"move": move, "expected_version": version}
    unknown(mover.post(f"/v1/matches/{match}/moves?expected_version=1", sent), "expected_version")
    unknown(mover.post(f"/v1/matches/{match}/resignation?dry_run", {}), "dry_run")
    assert mover.view(match)["version"] == version


def test_every_parameter_of_the_document_is_taken_once(contract: Contract, client: httpx.Client) -> None:
    for template, methods in contract.document["paths"].items():
        path = template.format(match="m", title="t", player="p", offer="1", takeback="1")
        for method, operation in methods.items():
            for each in operation["parameters"]:
                if each["in"] == "query" and each["schema"].get("type") != "array":
                    repeated(client.request(method, path, params=[(each["name"], "1")] * 2), each["name"])


@pytest.mark.parametrize("query", ["to=1&to=2", "from=0&to=1&to=1", "to=&to=", "to=1&%74o=1"])
def test_a_parameter_that_is_repeated_is_refused_whatever_it_says(guests: Guests, query: str) -> None:
    match = begun(guests)
    repeated(guests[0].get(f"/v1/matches/{match}/events?{query}"), "to")


def test_a_parameter_that_is_a_list_may_be_repeated() -> None:
    @get("/", opt=says(str))
    async def listing(many: FromQuery[list[str]], one: FromQuery[str] = "") -> list[str]:
        return many

    with TestClient(
        Litestar([listing], before_request=check, exception_handlers={BadRequest: told})
    ) as client:
        assert client.get("/?many=1&one=2&many=3").json() == ["1", "3"]
        assert client.get("/?many=1&one=2&one=3").json() == {"field": "one"}


@pytest.mark.parametrize("query", ["?", "?&", "?after="])
def test_an_empty_query_is_none(guests: Guests, system: System, query: str) -> None:
    match = guests[0].create()["match"]
    with httpx.stream("GET", f"{system.url}/v1/matches/{match}/live.sse{query}") as answer:
        assert answer.status_code == 200


def test_of_an_endless_name_the_beginning_is_repeated(client: httpx.Client) -> None:
    name = "x" * 5_000
    unknown(client.get(f"/v1/titles?{name}=1"), name[:NAME_CHARACTERS_MAX])


@pytest.mark.parametrize("path", ["/docs", "/errors", "/errors/bad-request", "/openapi.json"])
def test_links_for_people_may_be_marked_by_whoever_passes_them_on(system: System, path: str) -> None:
    assert httpx.get(f"{system.url}{path}?utm_source=chat").status_code == 200


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/live?token=x", "token"),
        ("/v1/matches/m/live?after=1&token=x", "token"),
        (
            f"/v1/live?{'%C3%A9' * 70}=x",
            "\u00e9" * NAME_CHARACTERS_MAX,
        ),  # more bytes than a close frame holds
    ],
)
async def test_a_handshake_with_a_parameter_that_is_not_there_is_told_so(
    system: System, path: str, field: str
) -> None:
    async with live(system.url, path) as socket:
        problem = await socket.next("problem")
        assert (problem["reason"], problem["field"]) == ("BAD_REQUEST", field)
        assert (await socket.closed())[0] == UNREADABLE


async def check(request: AnyRequest) -> None:
    require_known_query(request)


def told(_: AnyRequest, error: BadRequest) -> Response[dict[str, str]]:
    return Response({"field": error.field}, status_code=400)


@pytest.mark.anyio
@pytest.mark.parametrize("query", ["after=1&after=2", "after=1&after=1", "after=&after=1"])
async def test_a_handshake_that_repeats_a_parameter_is_told_so(system: System, query: str) -> None:
    async with live(system.url, f"/v1/matches/m/live?{query}") as socket:
        problem = await socket.next("problem")
        assert (problem["reason"], problem["field"]) == ("BAD_REQUEST", "after")
        assert "more than once" in problem["detail"]
        assert (await socket.closed())[0] == UNREADABLE
