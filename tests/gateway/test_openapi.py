"""The OpenAPI document itself; that answers keep to it is checked by every test that has a `client`."""

import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator, ValidationError

from deploy.local.system import System
from tests.gateway.contract import Contract
from tests.gateway.playing import Guest, any_move, begun
from tests.gateway.sockets import live

Guests = tuple[Guest, Guest]
METHODS = {"get", "post", "delete"}


def operations(contract: Contract) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in contract.document["paths"].items():
        for method, operation in methods.items():
            assert method in METHODS
            yield path, method, operation


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(there := value.get("$ref"), str):
            yield there
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_the_document_is_openapi_3_1_without_a_dangling_reference(contract: Contract) -> None:
    assert contract.document["openapi"].startswith("3.1")
    for reference in references(contract.document):
        there: Any = contract.document
        for name in reference.removeprefix("#/").split("/"):
            assert name in there, reference
            there = there[name]


def test_every_schema_is_a_schema(contract: Contract) -> None:
    for schema in contract.document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for path, _, operation in operations(contract):
        for parameter in operation["parameters"]:
            Draft202012Validator.check_schema(parameter["schema"])
            assert "type" in parameter["schema"], (path, parameter)


def test_every_operation_says_what_it_does_what_it_needs_and_how_it_refuses(contract: Contract) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(contract)]
    assert len(set(ids)) == len(ids)
    for path, method, operation in operations(contract):
        assert operation["summary"], path
        assert operation["tags"], path
        in_path = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"]
        assert all(f"{{{name}}}" in path for name in in_path)
        assert path.count("{") == len(in_path)
        statuses = set(operation["responses"])
        assert {"400", "429", "500"} <= statuses
        assert ("413" in statuses) == (method != "get"), path
        if method != "get" and "/v1/players" not in path:
            assert {"401"} <= statuses, path
            assert operation["security"] == [{"player": []}], path


def test_titles_bring_their_schemas(contract: Contract) -> None:
    schemas = contract.document["components"]["schemas"]
    for slug in ("make_way", "wayfare"):
        assert {"$ref": f"#/components/schemas/{slug}.move"} in schemas["Move"]["anyOf"]
        assert {"$ref": f"#/components/schemas/{slug}.MatchView"} in schemas["MatchView"]["oneOf"]
    assert schemas["NewMove"]["properties"]["move"] == {"$ref": "#/components/schemas/Move"}


@pytest.mark.parametrize("title", ["make_way", "wayfare"])
def test_real_moves_and_views_fit_and_spoilt_ones_do_not(
    contract: Contract, guests: Guests, title: str
) -> None:
    luck = random.Random(1)
    match = begun(guests, title=title)
    for _ in range(12):
        mover, move, version = any_move(guests, match, luck)
        sent = {"move": move, "expected_version": version}
        assert contract.fits("NewMove", sent)
        assert not contract.fits("NewMove", {**sent, "move": {**move, "more": 1}})
        assert not contract.fits("NewMove", {**sent, "move": {"type": "nope"}})
        assert not contract.fits("NewMove", {"move": move})
        receipt = mover.move(match, move, version).json()
        assert contract.fits("Receipt", receipt)
        view = receipt["view"]
        assert contract.fits("MatchView", view)
        assert not contract.fits("MatchView", {**view, "title": "chess"})
        assert not contract.fits("MatchView", {**view, "view": {}})


def test_a_view_fits_the_schema_of_its_own_title_alone(contract: Contract, guests: Guests) -> None:
    view = guests[0].view(begun(guests, title="wayfare"))
    assert contract.fits("wayfare.MatchView", view)
    assert not contract.fits("make_way.MatchView", {**view, "title": "make_way"})


@pytest.mark.anyio
async def test_the_frames_of_a_socket_fit_their_schema(
    system: System, contract: Contract, guests: Guests
) -> None:
    host, other = guests
    table = host.create()["match"]
    path = f"/v1/matches/{table}/live"
    async with live(system.url, path, host.token) as socket:
        await socket.next("table")
        other.post(f"/v1/matches/{table}/seats")
        await socket.next("view")
        await socket.send(type="offer_draw", id="1")
        await socket.next("receipt")
        await socket.send(type="offer_draw", id="2")
        await socket.next("problem")
        await socket.until(lambda frame: frame["type"] == "head")
    async with live(system.url, f"{path}?after=0", host.token) as again:
        await again.until(lambda frame: frame.get("version") == 2)
    frames = socket.frames + again.frames
    kinds = {frame["type"] for frame in frames}
    assert kinds == {"hello", "table", "view", "event", "receipt", "problem", "head"}
    for frame in frames:
        assert contract.fits("ServerFrame", frame), frame
        assert not contract.fits("ServerFrame", {**frame, "type": "nope"})


def test_the_frames_of_a_client_fit_their_schema(contract: Contract, guests: Guests) -> None:
    match = begun(guests)
    _, move, version = any_move(guests, match, random.Random(1))
    frame = {"type": "move", "match": match, "move": move, "expected_version": version}
    assert contract.fits("ClientFrame", frame)
    assert not contract.fits("ClientFrame", {**frame, "move": 7})
    assert contract.fits("ClientFrame", {"type": "follow", "match": match, "after": 3})
    assert not contract.fits("ClientFrame", {"type": "follow"})


def test_an_answer_that_the_document_does_not_know_is_noticed(contract: Contract) -> None:
    request = httpx.Request("GET", "http://x/v1/titles")
    with pytest.raises(AssertionError):
        contract.check(httpx.Response(418, json={}, request=request))
    with pytest.raises(ValidationError):
        contract.check(httpx.Response(200, json={"titles": [{"slug": 1}]}, request=request))
