"""Every refusal: its status, its reason, and that nothing was stored."""

import random
from typing import Any

import httpx
import pytest

from gateway.bodies import FIELD_CHARACTERS_MAX
from gateway.limits import BODY_BYTES_MAX
from services.core.commands import NOTE_MAX
from tests.gateway.playing import ADMIN_TOKEN, Guest, any_move, begun

Guests = tuple[Guest, Guest]


def refused(answer: httpx.Response, status: int, reason: str) -> dict[str, Any]:
    """The problem, which must be this one and well-formed."""
    assert (answer.status_code, answer.json()["reason"]) == (status, reason), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["type"] == f"/errors/{reason.lower().replace('_', '-')}"
    assert problem["title"]
    assert problem["detail"]
    assert problem["instance"] == answer.request.url.path
    return problem


def test_unknown_titles_are_refused(guests: Guests, client: httpx.Client) -> None:
    problem = refused(guests[0].post("/v1/matches", {"title": "chess"}), 404, "NO_SUCH_TITLE")
    assert problem["slug"] == "chess"
    refused(client.get("/v1/titles/chess"), 404, "NO_SUCH_TITLE")


@pytest.mark.parametrize("table", [{"options": {"nope": 1}}, {"options": {"rounds": "many"}}, {"seats": 3}])
def test_options_that_the_title_does_not_offer_are_refused(guests: Guests, table: dict[str, Any]) -> None:
    refused(guests[0].post("/v1/matches", {"title": "make_way", **table}), 400, "OPTION_INVALID")


def test_a_full_table_takes_nobody_more(guests: Guests, client: httpx.Client) -> None:
    host, other = guests
    match = host.create(start="manual")["match"]
    other.post(f"/v1/matches/{match}/seats")
    before = host.view(match)
    refused(Guest(client).post(f"/v1/matches/{match}/seats"), 409, "TABLE_FULL")
    assert host.view(match) == before


def test_a_seat_is_taken_once_and_a_player_sits_once(guests: Guests, client: httpx.Client) -> None:
    host, other = guests
    match = host.create()["match"]
    refused(other.post(f"/v1/matches/{match}/seats", {"seat": 0}), 409, "SEAT_TAKEN")
    refused(host.post(f"/v1/matches/{match}/seats"), 409, "ALREADY_SEATED")


def test_a_table_that_has_begun_takes_nobody(guests: Guests, client: httpx.Client) -> None:
    match = begun(guests)
    refused(Guest(client).post(f"/v1/matches/{match}/seats"), 409, "TABLE_FULL")


def test_only_the_host_starts_and_only_with_enough_players(guests: Guests) -> None:
    host, other = guests
    match = host.create(start="manual")["match"]
    refused(host.post(f"/v1/matches/{match}/start"), 409, "TABLE_NOT_READY")
    other.post(f"/v1/matches/{match}/seats")
    refused(other.post(f"/v1/matches/{match}/start"), 403, "NOT_ALLOWED")


def test_moves_before_the_match_begins_are_refused(guests: Guests) -> None:
    match = guests[0].create()["match"]
    refused(guests[0].move(match, {}, 0), 409, "NOT_STARTED")
    refused(guests[0].get(f"/v1/matches/{match}?version=1"), 404, "NO_SUCH_VERSION")


def test_a_move_out_of_turn_is_refused_and_nothing_is_stored(guests: Guests) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(1))
    other = guests[1 - guests.index(mover)]
    problem = refused(other.move(match, move, version), 409, "NOT_YOUR_TURN")
    assert (problem["seat"], problem["version"]) == (guests.index(other), version)
    assert mover.view(match)["version"] == version


def test_an_illegal_move_names_the_rule_and_nothing_is_stored(guests: Guests) -> None:
    match = begun(guests)
    mover, _, version = any_move(guests, match, random.Random(1))
    legal = [choice["move"] for choice in mover.legal(match)["choices"]]
    moved = next(choice for choice in legal if choice["type"] == "play")
    illegal = {**moved, "move": {"kind": "shift", "from": [5, 5], "dir": 1}}
    assert illegal not in legal
    problem = refused(mover.move(match, illegal, version), 422, "MOVE_ILLEGAL")
    assert problem["rule"] in mover.client.get("/v1/titles/make_way").json()["rules"]
    assert mover.view(match)["version"] == version


def test_what_is_no_move_at_all_is_refused(guests: Guests) -> None:
    match = begun(guests)
    mover, _, version = any_move(guests, match, random.Random(1))
    for move in ({}, {"type": "nope"}, 7, [], None, "e4"):
        refused(mover.move(match, move, version), 400, "MOVE_UNREADABLE")
    assert mover.view(match)["version"] == version


def test_a_stale_version_is_refused_with_both_versions(guests: Guests) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(1))
    problem = refused(mover.move(match, move, version - 1), 409, "VERSION_CONFLICT")
    assert (problem["expected"], problem["actual"]) == (version - 1, version)
    assert mover.view(match)["version"] == version


def test_if_match_guards_the_other_commands(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    offer = f"/v1/matches/{match}/draw-offers"
    refused(host.post(offer, **{"If-Match": '"7"'}), 412, "VERSION_CONFLICT")
    for tag in ("yesterday", '"1-7"', '"-000000000000"', '"1-000000000000x"', '"1" "1"'):
        refused(host.post(offer, **{"If-Match": tag}), 400, "BAD_REQUEST")
    etag = host.get(f"/v1/matches/{match}").headers["ETag"]
    assert host.post(offer, **{"If-Match": etag}).status_code == 200


def test_a_used_key_with_another_command_is_refused(guests: Guests) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(1))
    other_move = next(choice["move"] for choice in mover.legal(match)["choices"] if choice["move"] != move)
    mover.move(match, move, version, key="k")
    refused(mover.move(match, other_move, version, key="k"), 409, "REQUEST_ID_REUSED")
    host = guests[0]
    host.post("/v1/matches", {"title": "make_way"}, key="t")
    refused(
        host.post("/v1/matches", {"title": "make_way", "visibility": "private"}, key="t"),
        409,
        "REQUEST_ID_REUSED",
    )


@pytest.mark.parametrize("authorization", ["Bearer nonsense", "Basic abc", "Bearer", "Bearer a.b.c"])
def test_a_bad_token_is_refused_for_commands_and_reads_alike(guests: Guests, authorization: str) -> None:
    host, _ = guests
    match = begun(guests)
    host.headers = {"Authorization": authorization}
    for answer in (host.post("/v1/matches", {"title": "make_way"}), host.get(f"/v1/matches/{match}")):
        refused(answer, 401, "TOKEN_INVALID")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_commands_need_a_token(guests: Guests, client: httpx.Client) -> None:
    match = begun(guests)
    refused(client.post("/v1/matches", json={"title": "make_way"}), 401, "TOKEN_INVALID")
    refused(client.post(f"/v1/matches/{match}/resignation"), 401, "TOKEN_INVALID")


def test_commands_need_a_seat(guests: Guests, client: httpx.Client) -> None:
    match = begun(guests)
    stranger = Guest(client)
    refused(stranger.post(f"/v1/matches/{match}/resignation"), 403, "NOT_SEATED")
    assert guests[0].view(match)["version"] == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", "body"),
        (b"\xff\xfe", "body"),
        (b"[]", "body"),
        (b'{"move":{}}', "expected_version"),
        (b'{"move":{},"expected_version":"one"}', "expected_version"),
        (b'{"move":{},"expected_version":-1}', "expected_version"),
        (b'{"move":{},"expected_version":1,"more":1}', "more"),
        (b'{"move":{},"expected_version":1,"a\\nb":1}', "a\nb"),
        (b'{"move":{},"expected_version":1,"' + b"m" * 999 + b'":1}', "m" * FIELD_CHARACTERS_MAX),
        (b"", "move"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_by_field(guests: Guests, body: bytes, field: str) -> None:
    match = begun(guests)
    path = f"/v1/matches/{match}/moves"
    answer = guests[0].client.post(path, content=body, headers=guests[0].headers)
    assert refused(answer, 400, "BAD_REQUEST")["field"] == field


def test_nesting_without_end_is_refused(guests: Guests) -> None:
    match = begun(guests)
    body = b'{"expected_version":1,"move":' + b"[" * 30_000 + b"]" * 30_000 + b"}"
    answer = guests[0].client.post(f"/v1/matches/{match}/moves", content=body, headers=guests[0].headers)
    assert answer.status_code == 400
    assert answer.json()["reason"] in ("BAD_REQUEST", "MOVE_UNREADABLE")


@pytest.mark.parametrize("path", ["/v1/players/tokens", "/v1/matches"])
def test_too_large_a_body_is_refused(guests: Guests, path: str) -> None:
    body = b'{"title":"' + b"x" * BODY_BYTES_MAX + b'"}'
    answer = guests[0].client.post(path, content=body, headers=guests[0].headers)
    assert refused(answer, 413, "TOO_LARGE")["limit"] == BODY_BYTES_MAX


@pytest.mark.parametrize("key", ["k" * 129, "two words"])
def test_a_key_that_cannot_be_an_id_is_refused(guests: Guests, key: str) -> None:
    answer = guests[0].post("/v1/matches", {"title": "make_way"}, key=key)
    assert refused(answer, 400, "BAD_REQUEST")["field"] == "Idempotency-Key"


@pytest.mark.parametrize("match", ["nope", "x" * 65, "live.*", "a>b"])
def test_unknown_matches_are_refused(guests: Guests, match: str) -> None:
    host, _ = guests
    for answer in (
        host.get(f"/v1/matches/{match}"),
        host.get(f"/v1/matches/{match}/events"),
        host.get(f"/v1/matches/{match}/legal-moves"),
        host.get(f"/v1/matches/{match}/record"),
        host.get(f"/v1/matches/{match}/live.sse"),
        host.post(f"/v1/matches/{match}/resignation"),
        host.move(match, {}, 1),
        host.post(f"/v1/matches/{match}/seats"),
    ):
        refused(answer, 404, "NO_SUCH_MATCH")


def test_a_private_match_is_closed_to_strangers_and_open_by_invitation(
    guests: Guests, client: httpx.Client
) -> None:
    host, other = guests
    stranger = Guest(client)
    created = host.create(visibility="private")
    match, invite = created["match"], created["invite"]
    paths = [f"/v1/matches/{match}", f"/v1/matches/{match}?version=1", f"/v1/matches/{match}/live.sse"]
    for path in paths:
        refused(stranger.get(path), 403, "NOT_SEATED")
        refused(client.get(path), 403, "NOT_SEATED")
    refused(other.post(f"/v1/matches/{match}/seats"), 403, "NOT_SEATED")
    refused(other.post(f"/v1/matches/{match}/seats", {"invite": "wrong"}), 403, "NOT_SEATED")
    assert stranger.get(paths[0], **{"Invite-Code": invite}).json()["status"] == "open"
    assert other.post(f"/v1/matches/{match}/seats", {"invite": invite}).status_code == 200
    for path in [*paths, f"/v1/matches/{match}/events", f"/v1/matches/{match}/legal-moves"]:
        refused(stranger.get(path), 403, "NOT_SEATED")
        refused(stranger.get(path, **{"Invite-Code": "wrong"}), 403, "NOT_SEATED")
    assert other.view(match)["seat"] == 1
    assert stranger.get(paths[0], **{"Invite-Code": invite}).json()["seat"] is None
    assert "invite" not in other.view(match)


def test_a_running_match_keeps_its_record_sealed(guests: Guests) -> None:
    match = begun(guests)
    refused(guests[0].get(f"/v1/matches/{match}/record"), 409, "NOT_OVER")


@pytest.mark.parametrize("version", [0, 2, 10**15 - 1])
def test_versions_that_do_not_exist_are_refused(guests: Guests, version: int) -> None:
    match = begun(guests)
    problem = refused(guests[0].get(f"/v1/matches/{match}?version={version}"), 404, "NO_SUCH_VERSION")
    assert (problem["version"], problem["head"]) == (version, 1)


@pytest.mark.parametrize("query", ["version=x", "version=-1", "version=1.5", "version=99999999999999999999"])
def test_a_parameter_that_cannot_be_read_is_refused(guests: Guests, query: str) -> None:
    match = begun(guests)
    assert refused(guests[0].get(f"/v1/matches/{match}?{query}"), 400, "BAD_REQUEST")["field"] == "version"


def test_only_an_operator_aborts(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    path = f"/v1/matches/{match}/abort"
    refused(host.post(path), 403, "NOT_ALLOWED")
    refused(host.client.post(path), 401, "TOKEN_INVALID")
    assert host.view(match)["status"] == "running"
    operator = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    done = host.client.post(path, json={"note": "maintenance"}, headers=operator)
    assert done.status_code == 200, done.text
    assert host.view(match)["outcome"] == {"winners": [], "reason": "abort"}


def test_a_match_that_is_over_takes_no_move(guests: Guests) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(1))
    mover.post(f"/v1/matches/{match}/resignation")
    refused(mover.move(match, move, version + 1), 409, "MATCH_OVER")


def test_a_player_who_does_not_exist_recovers_nothing(guests: Guests) -> None:
    host, other = guests
    path = "/v1/players/tokens"
    refused(host.post(path, {"player": "p_nobody", "recovery": "x"}), 404, "NO_SUCH_PLAYER")
    refused(host.post(path, {"player": host.player, "recovery": other.recovery}), 401, "TOKEN_INVALID")


def test_unknown_paths_and_methods_are_problems_too(client: httpx.Client) -> None:
    refused(client.get("/v2/nothing"), 404, "NOT_FOUND")
    answer = client.put("/v1/players")
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    assert "POST" in answer.headers["Allow"]


def test_a_caller_without_a_key_learns_the_one_it_was_given(guests: Guests) -> None:
    match = guests[0].create()["match"]
    problem = guests[0].move(match, {}, 0).json()
    assert len(problem["request_id"]) >= 16


@pytest.mark.parametrize("path", ["//metrics", "/metrics/", "/v1//titles", "/v1/titles/", "//"])
def test_a_slash_too_many_leads_nowhere(client: httpx.Client, path: str) -> None:
    answer = client.send(client.build_request("GET", httpx.URL(client.base_url, raw_path=path.encode())))
    assert refused(answer, 404, "NOT_FOUND")["instance"] == path


def test_a_note_may_be_as_long_as_the_document_says(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    path = f"/v1/matches/{match}/abort"
    too_long = host.client.post(path, json={"note": "x" * (NOTE_MAX + 1)}, headers=headers)
    assert refused(too_long, 400, "BAD_REQUEST")["field"] == "note"
    assert host.client.post(path, json={"note": "x" * NOTE_MAX}, headers=headers).status_code == 200
