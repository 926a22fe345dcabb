"""Live connections: who may watch what and for how long, and in which order it comes."""

import asyncio
import json
import random
import time
from typing import Any

import grpc
import httpx
import pytest
from waystation.rules.v1 import rules_pb2, rules_pb2_grpc
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from deploy.local.system import System
from gateway.live.session import FOLLOWS_MAX
from services.kit import plain_redis
from services.kit.directory import Directory
from tests.gateway.playing import Guest, Start, any_move, begun, play_on
from tests.gateway.sockets import Socket, at, live

pytestmark = pytest.mark.anyio

Guests = tuple[Guest, Guest]


async def test_players_and_a_spectator_see_every_version_each_with_their_own_eyes(
    system: System, guests: Guests
) -> None:
    match = begun(guests)
    luck = random.Random(1)
    async with (
        live(system.url, at(match), guests[0].token) as first,
        live(system.url, at(match), guests[1].token) as second,
        live(system.url, at(match)) as watching,
    ):
        await watching.send(type="hello")
        for seat, socket in enumerate((first, second)):
            view = await socket.next("view")
            assert (view["version"], view["view"]["seat"]) == (1, seat)
        assert (await watching.next("view"))["view"]["seat"] is None
        for version in range(2, 12):
            mover, move, expected = any_move(guests, match, luck)
            socket = (first, second)[guests.index(mover)]
            await socket.send(type="move", id="m", move=move, expected_version=expected)
            receipt = await socket.next("receipt")
            assert (receipt["id"], receipt["version"]) == ("m", version)
        for socket in (first, second, watching):
            if socket.versions(match)[-1] < 11:
                await socket.until(lambda frame: frame["type"] != "receipt" and frame.get("version") == 11)
            assert socket.versions(match)[0] == 1


async def test_whichever_worker_stores_an_event_it_is_pushed(system: System, guests: Guests) -> None:
    host, other = guests
    match = begun(guests)
    left = await addresses_of(system, "make_way")
    assert len(left) == 2
    async with live(system.url, at(match), host.token) as socket:
        await socket.next("view")
        deadline = time.monotonic() + 15
        while left:  # the gateway reaches a worker within about a second
            assert time.monotonic() < deadline, f"never pushed: {left}"
            version = await offer_at(left[0], match, host.player)
            told = await socket.until(lambda frame, at=version: frame.get("version") == at)  # type: ignore[misc]
            left = left[1:] if told["type"] == "event" else left
            other.post(f"/v1/matches/{match}/draw-offers/{version}/answer", {"accept": False})


async def addresses_of(system: System, title: str) -> list[str]:
    """Where the workers of the title are."""
    redis = plain_redis.connect(system.redis_url)
    directory = Directory(redis)
    await directory.refresh()
    await redis.aclose()
    return [worker.address for worker in directory.workers(title)]


async def offer_at(address: str, match: str, player: str) -> int:
    """Offers a draw at a worker of the test's choice; the version that it is stored as."""
    offer = rules_pb2.SubmitCommandRequest(match=match, player=player, offer_draw=rules_pb2.OfferDraw())
    async with grpc.aio.insecure_channel(address) as channel:
        version: int = (await rules_pb2_grpc.RulesServiceStub(channel).SubmitCommand(offer)).version
    return version


async def test_an_event_carries_the_view_after_it(system: System, guests: Guests) -> None:
    match = begun(guests)
    async with live(system.url, at(match), guests[0].token) as socket:
        await socket.next("view")
        play_on(guests, match, 1, random.Random(2))
        event = await socket.next("event")
        assert event["event"]["type"] == "move_made"
        assert event["view"] == guests[0].view(match)


async def test_one_socket_follows_many_matches(system: System, guests: Guests) -> None:
    host, _ = guests
    matches = [begun(guests) for _ in range(3)]
    async with live(system.url, token=host.token) as socket:
        for match in matches:
            await socket.send(type="follow", match=match)
            assert (await socket.next("view"))["match"] == match
        for match in reversed(matches):
            host.post(f"/v1/matches/{match}/draw-offers")
            assert (await socket.next("event"))["match"] == match
        await socket.send(type="unfollow", match=matches[0])
        await socket.send(type="follow", match=matches[1])  # answered after the unfollow
        await socket.next("view")
        host.post(f"/v1/matches/{matches[0]}/resignation")
        host.post(f"/v1/matches/{matches[1]}/resignation")
        assert (await socket.next("event"))["match"] == matches[1]


async def test_whoever_comes_back_gets_what_was_missed(system: System, guests: Guests) -> None:
    match = begun(guests)
    play_on(guests, match, 5, random.Random(3))
    async with live(system.url, at(match, after=2), guests[0].token) as socket:
        missed = [await socket.next("event") for _ in range(4)]
        assert [event["version"] for event in missed] == [3, 4, 5, 6]
        assert [event["event"]["version"] for event in missed] == [3, 4, 5, 6]
        assert ["view" in event for event in missed] == [False, False, False, True]
        play_on(guests, match, 1, random.Random(4))
        assert (await socket.next("event"))["version"] == 7


async def test_a_table_is_followed_into_its_match(system: System, guests: Guests) -> None:
    host, other = guests
    match = host.create()["match"]
    async with live(system.url, at(match), host.token) as socket:
        table = await socket.next()
        assert (table["type"], table["table"]["status"]) == ("table", "open")
        other.post(f"/v1/matches/{match}/seats")
        view = await socket.next("view")
        assert (view["version"], view["view"]["seat"]) == (1, 0)
        host.post(f"/v1/matches/{match}/draw-offers")
        assert (await socket.next("event"))["version"] == 2


async def test_the_first_frame_can_say_who_the_client_is(system: System, guests: Guests) -> None:
    match = begun(guests)
    async with live(system.url, at(match)) as socket:
        await socket.send(type="hello", token=guests[1].token)
        assert await socket.next() == {"type": "hello", "player": guests[1].player}
        assert (await socket.next("view"))["view"]["seat"] == 1


@pytest.mark.parametrize(
    "frame", [{"type": "hello", "token": "nonsense"}, {"type": "follow", "match": "m"}, {"type": "nope"}]
)
async def test_a_client_that_does_not_say_who_it_is_is_sent_away(system: System, frame: Any) -> None:
    async with live(system.url) as socket:
        await socket.send(**frame)
        assert (await socket.next())["reason"] in ("TOKEN_INVALID", "BAD_REQUEST")
        assert (await socket.closed())[0] == 4001


async def test_a_bad_token_in_the_header_is_sent_away(system: System) -> None:
    address = system.url.replace("http://", "ws://", 1) + "/v1/live"
    async with connect(address, additional_headers={"Authorization": "Bearer nonsense"}) as connection:
        socket = Socket(connection)
        assert (await socket.next())["reason"] == "TOKEN_INVALID"
        assert (await socket.closed())[0] == 4001


async def test_a_private_match_is_watched_with_a_seat_or_an_invitation(
    system: System, guests: Guests, client: httpx.Client
) -> None:
    host, other = guests
    created = host.create(visibility="private")
    match, invite = created["match"], created["invite"]
    stranger = Guest(client)
    async with live(system.url, token=stranger.token) as socket:
        for _ in range(2):  # as a table, and as a match
            await socket.send(type="follow", id="f", match=match)
            problem = await socket.next()
            assert (problem["id"], problem["reason"], problem["status"]) == ("f", "NOT_SEATED", 403)
            await socket.send(type="follow", id="f", match=match, invite="wrong")
            assert (await socket.next())["reason"] == "NOT_SEATED"
            other.post(f"/v1/matches/{match}/seats", {"invite": invite})
        await socket.send(type="follow", match=match, invite=invite)
        assert (await socket.next("view"))["view"]["seat"] is None
        host.post(f"/v1/matches/{match}/draw-offers")
        assert (await socket.next("event"))["version"] == 2
    async with live(system.url, at(match), stranger.token) as socket:
        assert (await socket.next())["reason"] == "NOT_SEATED"
    async with live(system.url, at(match), stranger.token, invite) as socket:
        assert (await socket.next())["type"] == "view"


async def test_a_socket_follows_no_more_than_its_share(system: System, guests: Guests) -> None:
    host, _ = guests
    async with live(system.url, token=host.token) as socket:
        for _ in range(FOLLOWS_MAX):
            await socket.send(type="follow", match=host.create()["match"])
            await socket.next("table")
        await socket.send(type="follow", id="last", match=host.create()["match"])
        problem = await socket.next("problem")
        assert (problem["id"], problem["reason"]) == ("last", "OVERLOADED")


async def test_a_player_has_no_more_sockets_than_allowed(start_gateway: Start, system: System) -> None:
    url = start_gateway(SOCKETS_PER_PLAYER="2").url
    guest = Guest(httpx.Client(base_url=url))
    async with live(url, token=guest.token), live(url, token=guest.token):
        async with live(url) as third:
            await third.send(type="hello", token=guest.token)
            assert (await third.next())["reason"] == "OVERLOADED"
            assert (await third.closed())[0] == 1013
        other = Guest(guest.client)
        async with live(url, token=other.token):
            pass
    said, deadline = "", time.monotonic() + 15
    while said != "hello":  # the gateway may hear of the end of a socket after its client has
        assert time.monotonic() < deadline, said
        async with live(url) as socket:
            await socket.send(type="hello", token=guest.token)
            said = (await socket.next())["type"]


async def test_an_address_has_no_more_sockets_than_allowed(start_gateway: Start) -> None:
    url = start_gateway(SOCKETS_PER_ADDRESS="1").url
    async with live(url) as first, live(url) as second:
        assert (await second.next())["reason"] == "OVERLOADED"
        assert (await second.closed())[0] == 1013
        await first.send(type="hello")
        assert (await first.next())["type"] == "hello"


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "9" * 400, "%00", "1e3", "0x1"])
async def test_a_version_that_is_none_is_a_problem_and_a_close_code(system: System, after: str) -> None:
    async with live(system.url, f"/v1/matches/m/live?after={after}") as socket:
        problem = await socket.next()
        assert (problem["reason"], problem["field"], problem["status"]) == ("BAD_REQUEST", "after", 400)
        assert (await socket.closed())[0] == 4000


async def test_a_handshake_where_nothing_is_gets_a_problem(system: System) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with live(system.url, "/v1/nothing"):
            pass
    answer = refused.value.response
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert json.loads(answer.body)["reason"] == "NOT_FOUND"


async def test_connections_outlive_their_token_by_a_moment_only(start_gateway: Start, guests: Guests) -> None:
    match = begun(guests)
    url = start_gateway(TOKEN_S="10").url
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        with httpx.Client(base_url=url, timeout=60) as registering:
            brief = Guest(registering)
        streaming = asyncio.create_task(client.get(f"/v1/matches/{match}/live.sse", headers=brief.headers))
        async with live(url, at(match), brief.token) as socket:
            assert (await socket.next("view"))["version"] == 1
            bye = await socket.next("bye")
            assert (bye["reason"], bye["resume"]) == ("the token has expired", {match: 1})
            assert (await socket.closed())[0] == 4002
        assert time.time() > brief.expires_at_s
        text = (await streaming).text  # which has an end
    assert "event: view" in text
    assert text.rstrip().rpartition("event: ")[2].startswith("bye")
    async with live(url) as socket:
        await socket.send(type="hello", token=brief.token)
        assert (await socket.next())["reason"] == "TOKEN_INVALID"
        assert (await socket.closed())[0] == 4001


@pytest.mark.parametrize(
    ("path", "headers"),
    [("?after=x", {}), ("?after=-1", {}), ("", {"Last-Event-ID": "x"}), ("", {"Last-Event-ID": "9" * 400})],
)
def test_an_event_stream_after_no_version_is_a_bad_request(
    guests: Guests, path: str, headers: dict[str, str]
) -> None:
    answer = guests[0].get(f"/v1/matches/{begun(guests)}/live.sse{path}", **headers)
    assert (answer.status_code, answer.json()["reason"]) == (400, "BAD_REQUEST")


async def test_an_address_that_connects_too_often_is_refused_at_the_handshake(start_gateway: Start) -> None:
    url = start_gateway(RATE_PER_ADDRESS="0.001", BURST_PER_ADDRESS="2").url
    for _ in range(2):
        async with live(url):
            pass
    with pytest.raises(InvalidStatus) as refused:
        async with live(url):
            pass
    assert refused.value.response.status_code == 429
    assert refused.value.response.headers["Content-Type"] == "application/problem+json"
