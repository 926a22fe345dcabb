"""A match as it is read: now, at a version, and by whom."""

import random

import httpx
import pytest

from tests.gateway.playing import Guest, begun, play_on

Guests = tuple[Guest, Guest]


def test_every_version_can_be_read_and_never_changes(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    receipts = play_on(guests, match, 6, random.Random(4))
    path = f"/v1/matches/{match}?version="
    while_running = [host.get(f"{path}{version}") for version in range(1, 8)]
    host.post(f"/v1/matches/{match}/resignation")
    once_over = [host.get(f"{path}{version}") for version in range(1, 8)]
    assert [answer.json() for answer in while_running] == [answer.json() for answer in once_over]
    assert [answer.json()["version"] for answer in once_over] == list(range(1, 8))
    seen = {receipt["version"]: receipt["view"] for receipt in receipts if receipt["view"]["seat"] == 0}
    assert all(while_running[version - 1].json() == view for version, view in seen.items())


def test_a_view_at_a_version_may_be_kept_for_ever_by_its_reader_alone(guests: Guests) -> None:
    match = begun(guests)
    answer = guests[0].get(f"/v1/matches/{match}?version=1")
    assert {"private", "immutable"} <= set(answer.headers["Cache-Control"].split(", "))
    assert "Authorization" in answer.headers["Vary"]


def test_a_view_that_has_not_changed_is_not_sent_again(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    path = f"/v1/matches/{match}"
    first = host.get(path)
    again = host.get(path, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    play_on(guests, match, 1, random.Random(5))
    assert host.get(path, **{"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_of_one_version_each_seat_has_a_tag_of_its_own(guests: Guests, client: httpx.Client) -> None:
    """A browser that keeps another player's answer asks with its tag, and shows that answer after a 304."""
    host, other = guests
    match = begun(guests)
    for path in (f"/v1/matches/{match}", f"/v1/matches/{match}?version=1"):
        answers = [host.get(path), other.get(path), client.get(path)]
        assert len({answer.headers["ETag"] for answer in answers}) == 3
        again = other.get(
            path, **{"If-None-Match": ", ".join(answer.headers["ETag"] for answer in answers[::2])}
        )
        assert (again.status_code, again.json()) == (200, answers[1].json())


@pytest.mark.parametrize("known", ["{}", "W/{}", '"x", {}', '"x",W/{} , "y"', "*"])
def test_a_tag_is_found_however_it_is_written(guests: Guests, known: str) -> None:
    path = f"/v1/matches/{begun(guests)}"
    tag = guests[0].get(path).headers["ETag"]
    again = guests[0].get(path, **{"If-None-Match": known.format(tag)})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert "content-length" not in again.headers
    assert {"Cache-Control", "Vary"} <= {name.title() for name in again.headers}


@pytest.mark.parametrize("known", ['"1"', "{}x", "", '"*"'])
def test_a_tag_of_another_answer_is_none(guests: Guests, known: str) -> None:
    path = f"/v1/matches/{begun(guests)}"
    tag = guests[0].get(path).headers["ETag"]
    assert guests[0].get(path, **{"If-None-Match": known.format(tag)}).status_code == 200


def test_a_record_may_be_kept_for_ever_and_is_not_sent_again(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    path = f"/v1/matches/{match}/record"
    assert host.get(path, **{"If-None-Match": "*"}).status_code == 409, "there is none before the end"
    host.post(f"/v1/matches/{match}/resignation")
    record = host.get(path)
    assert {"private", "immutable"} <= set(record.headers["Cache-Control"].split(", "))
    assert "Authorization" in record.headers["Vary"]
    again = host.get(path, **{"If-None-Match": record.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_each_seat_sees_with_its_own_eyes(guests: Guests, client: httpx.Client) -> None:
    host, other = guests
    match = begun(guests)
    assert [host.view(match)["seat"], other.view(match)["seat"]] == [0, 1]
    assert client.get(f"/v1/matches/{match}").json()["seat"] is None
    assert Guest(client).view(match)["seat"] is None


def test_legal_moves_are_paged_and_a_page_of_the_past_is_refused(guests: Guests) -> None:
    match = begun(guests, title="wayfare", options={"size": 6})
    mover = guests[guests[0].view(match)["to_act"][0]]
    path = f"/v1/matches/{match}/legal-moves"
    whole = mover.get(f"{path}?page_size=1000").json()
    first = mover.get(f"{path}?page_size=3").json()
    second = mover.get(f"{path}?page_size=3&page_token={first['next']}").json()
    assert first["choices"] + second["choices"] == whole["choices"][:6]
    assert whole["total"] == len(whole["choices"]) == first["total"]
    mover.move(match, whole["choices"][0]["move"], whole["version"])
    stale = mover.get(f"{path}?page_size=3&page_token={first['next']}")
    assert (stale.status_code, stale.json()["reason"]) == (409, "VERSION_CONFLICT")


def test_a_spectator_has_no_legal_moves(guests: Guests, client: httpx.Client) -> None:
    match = begun(guests)
    page = client.get(f"/v1/matches/{match}/legal-moves").json()
    assert (page["seat"], page["choices"], page["total"]) == (None, [], 0)


def test_events_can_be_read_in_part(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    play_on(guests, match, 5, random.Random(6))
    page = host.get(f"/v1/matches/{match}/events?from=2&to=4").json()
    assert [event["version"] for event in page["events"]] == [2, 3, 4]


def test_a_request_id_is_shown_to_its_owner_alone(guests: Guests, client: httpx.Client) -> None:
    host, other = guests
    match = begun(guests)
    host.post(f"/v1/matches/{match}/draw-offers", key="mine")
    path = f"/v1/matches/{match}/events?from=2"
    assert host.get(path).json()["events"][0]["request_id"] == "mine"
    assert b"mine" not in other.get(path).content
    assert b"mine" not in client.get(path).content
