"""A match over HTTP, from a guest's first request to the record."""

import random

import httpx
import pytest

from tests.gateway.playing import Guest, any_move, begun, play_on
from tests.waiting import wait_until

Guests = tuple[Guest, Guest]


def test_two_strangers_play_a_match_to_its_end(guests: Guests) -> None:
    host, other = guests
    match = begun(guests)
    receipts = play_on(guests, match, 500, random.Random(1))
    assert [receipt["version"] for receipt in receipts] == list(range(2, len(receipts) + 2))
    assert receipts[-1]["view"]["status"] == "over"
    record = host.get(f"/v1/matches/{match}/record").json()
    assert (record["match"], len(record["entries"])) == (match, len(receipts) + 1)
    events = other.get(f"/v1/matches/{match}/events").json()["events"]
    assert [event["version"] for event in events] == list(range(1, len(receipts) + 2))


def test_a_table_is_shown_until_the_match_begins(guests: Guests) -> None:
    host, other = guests
    created = host.create()
    match = created["match"]
    shown = other.view(match)
    assert (shown["status"], shown["version"], shown["seat"]) == ("open", 0, None)
    assert shown["seats"] == [{"player": host.player}, {"player": None}]
    assert created["seat"] == 0
    seated = other.post(f"/v1/matches/{match}/seats").json()
    assert (seated["status"], seated["seat"]) == ("starting", 1)
    wait_until(lambda: other.view(match)["status"] == "running")
    view = other.view(match)
    assert (view["version"], view["seat"]) == (1, 1)
    assert view["seats"] == [{"player": host.player}, {"player": other.player}]


def test_the_created_table_is_where_its_location_says(guests: Guests) -> None:
    host, _ = guests
    made = host.post("/v1/matches", {"title": "make_way"})
    assert host.get(made.headers["Location"]).json()["match"] == made.json()["match"]


def test_a_repeated_create_returns_the_same_table(guests: Guests) -> None:
    host, _ = guests
    bodies = [host.post("/v1/matches", {"title": "make_way"}, key="again").json() for _ in range(3)]
    assert len({body["match"] for body in bodies}) == 1


def test_a_host_who_leaves_closes_the_table(guests: Guests) -> None:
    host, _ = guests
    match = host.create()["match"]
    assert host.delete(f"/v1/matches/{match}/seats/me").json()["status"] == "closed"
    assert host.view(match)["status"] == "closed"


def test_the_host_starts_a_table_that_waits_for_it(guests: Guests) -> None:
    host, other = guests
    match = host.create(start="manual")["match"]
    other.post(f"/v1/matches/{match}/seats")
    assert host.view(match)["status"] == "open"
    started = host.post(f"/v1/matches/{match}/start")
    assert (started.status_code, started.json()["status"]) == (200, "starting")
    wait_until(lambda: host.view(match)["status"] == "running")


def test_two_quick_matches_meet(client: httpx.Client) -> None:
    options = {"size": 6}
    first, second = Guest(client), Guest(client)
    table = first.post("/v1/quick-matches", {"title": "wayfare", "options": options}).json()
    met = second.post("/v1/quick-matches", {"title": "wayfare", "options": options}).json()
    assert (met["match"], table["seat"], met["seat"]) == (table["match"], 0, 1)


def test_the_same_move_sent_again_is_answered_and_not_made_twice(guests: Guests) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(2))
    first, again = (mover.move(match, move, version, key="k") for _ in range(2))
    assert (first.status_code, first.json()) == (200, again.json())
    assert mover.view(match)["version"] == version + 1


def test_offers_are_made_declined_and_accepted(guests: Guests) -> None:
    host, other = guests
    match = begun(guests)
    offer = host.post(f"/v1/matches/{match}/draw-offers").json()["version"]
    declined = other.post(f"/v1/matches/{match}/draw-offers/{offer}/answer", {"accept": False})
    assert declined.json()["view"]["draw_offer"] is None
    offer = other.post(f"/v1/matches/{match}/draw-offers").json()["version"]
    accepted = host.post(f"/v1/matches/{match}/draw-offers/{offer}/answer", {"accept": True})
    assert accepted.json()["view"]["outcome"]["reason"] == "agreement"


def test_a_move_is_taken_back_when_the_other_agrees(guests: Guests) -> None:
    match = begun(guests, title="wayfare", options={"size": 6})
    mover, move, version = any_move(guests, match, random.Random(3))
    other = guests[1 - guests.index(mover)]
    before = mover.view(match)
    mover.move(match, move, version)
    asked = mover.post(f"/v1/matches/{match}/takebacks")
    if not mover.client.get("/v1/titles/wayfare").json()["takebacks"]:
        pytest.fail("wayfare has no takebacks: this test needs a title that has")
    answer = f"/v1/matches/{match}/takebacks/{asked.json()['version']}/answer"
    taken = other.post(answer, {"accept": True})
    assert taken.json()["view"]["to_act"] == before["to_act"]


def test_a_resignation_ends_the_match(guests: Guests) -> None:
    host, _ = guests
    match = begun(guests)
    view = host.post(f"/v1/matches/{match}/resignation").json()["view"]
    assert (view["status"], view["outcome"]["winners"]) == ("over", [1])


def test_lists_show_a_match_to_whoever_may_see_it(guests: Guests, client: httpx.Client) -> None:
    host, other = guests
    match = begun(guests)
    private = host.create(visibility="private")["match"]

    def listed(reader: Guest, path: str) -> set[str]:
        return {found["match"] for found in reader.get(path).json()["matches"]}

    wait_until(lambda: {match, private} <= listed(host, f"/v1/players/{host.player}/matches"))
    assert private not in listed(other, f"/v1/matches?player={host.player}")
    wait_until(lambda: match in listed(other, f"/v1/matches?status=running&player={host.player}"))
    assert match not in listed(other, f"/v1/matches?status=open&player={host.player}")


def test_lists_are_paged(guests: Guests) -> None:
    host, _ = guests
    tables = {host.create()["match"] for _ in range(5)}
    mine = f"/v1/players/{host.player}/matches"
    wait_until(lambda: len(host.get(mine).json()["matches"]) == 5)
    found: list[str] = []
    token = ""
    for _ in range(3):
        page = host.get(f"{mine}?page_size=2&page_token={token}").json()
        found += [listed["match"] for listed in page["matches"]]
        token = page["next"]
    assert (set(found), len(found), token) == (tables, 5, None)


def test_a_recovery_secret_renews_the_token(client: httpx.Client) -> None:
    guest = Guest(client)
    renewed = client.post("/v1/players/tokens", json={"player": guest.player, "recovery": guest.recovery})
    assert (renewed.status_code, renewed.json()["player"]) == (201, guest.player)
    guest.headers["Authorization"] = f"Bearer {renewed.json()['token']}"
    assert guest.create()["host"] == guest.player
