"""A query parameter that an operation does not have is refused by name, wherever it is sent."""

import random
from typing import Any

import httpx
import pytest

from deploy.local.system import System
from gateway.queries import NAME_CHARACTERS_MAX
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
