"""Commands over a live connection: their answers, frames that are none, and peers that say nothing."""

import random

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from deploy.local.system import System
from tests.gateway.playing import Guest, Start, any_move, begun, play_on
from tests.gateway.sockets import at, live

pytestmark = pytest.mark.anyio

Guests = tuple[Guest, Guest]


async def test_whoever_moves_gets_receipt_and_event_once_each_and_the_event_that_all_their_sockets_get(
    system: System, guests: Guests
) -> None:
    match = begun(guests)
    luck = random.Random(12)
    mover, move, version = any_move(guests, match, luck)
    async with (
        live(system.url, at(match), mover.token) as here,
        live(system.url, at(match), mover.token) as there,
    ):
        for socket in (here, there):
            await socket.next("view")
        await here.send(type="move", move=move, expected_version=version, request_id="mine")
        # A push may overtake the answer.
        event, receipt = sorted([await here.next(), await here.next()], key=lambda frame: frame["type"])
        assert (receipt["type"], event["type"], event["version"]) == ("receipt", "event", receipt["version"])
        assert event["view"] == receipt["view"]
        assert event["event"]["request_id"] == "mine"
        assert await there.next("event") == event
        play_on(guests, match, 1, luck)
        assert (await here.next("event"))["version"] == receipt["version"] + 1  # and not the same once more


async def test_refusals_over_a_socket_answer_their_frame_and_store_nothing(
    system: System, guests: Guests
) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(5))
    other = guests[1 - guests.index(mover)]
    async with (
        live(system.url, at(match), mover.token) as mine,
        live(system.url, at(match), other.token) as theirs,
    ):
        await theirs.send(type="move", id="1", move=move, expected_version=version)
        assert (await theirs.next("problem"))["reason"] == "NOT_YOUR_TURN"
        await mine.send(type="move", id="2", move=move, expected_version=version + 5)
        stale = await mine.next("problem")
        assert (stale["id"], stale["reason"], stale["actual"]) == ("2", "VERSION_CONFLICT", version)
        await mine.send(type="move", id="3", move={"type": "nope"}, expected_version=version)
        assert (await mine.next("problem"))["reason"] == "MOVE_UNREADABLE"
        await mine.send(type="move", id="4", move=move)
        assert (await mine.next("problem"))["reason"] == "BAD_REQUEST"
        await mine.send(type="resign", id="5", match="nope")
        assert (await mine.next("problem"))["reason"] == "NO_SUCH_MATCH"
    assert mover.view(match)["version"] == version


async def test_a_spectator_without_a_token_commands_nothing(system: System, guests: Guests) -> None:
    match = begun(guests)
    async with live(system.url, at(match)) as socket:
        await socket.send(type="hello")
        await socket.next("view")
        await socket.send(type="resign", id="r")
        problem = await socket.next("problem")
        assert (problem["id"], problem["reason"]) == ("r", "TOKEN_INVALID")


async def test_the_same_request_over_socket_and_http_is_one_event(system: System, guests: Guests) -> None:
    match = begun(guests)
    mover, move, version = any_move(guests, match, random.Random(6))
    async with live(system.url, at(match), mover.token) as socket:
        for _ in range(3):
            await socket.send(type="move", id="m", move=move, expected_version=version, request_id="once")
        receipts = [await socket.next("receipt") for _ in range(3)]
    again = mover.move(match, move, version, key="once")
    assert {receipt["head"] for receipt in receipts} == {again.json()["head"]}
    assert mover.view(match)["version"] == version + 1


async def test_every_command_can_be_sent_over_a_socket(system: System, guests: Guests) -> None:
    match = begun(guests)
    async with (
        live(system.url, at(match), guests[0].token) as host,
        live(system.url, at(match), guests[1].token) as other,
    ):
        await host.send(type="offer_draw", id="1")
        offer = (await host.next("receipt"))["version"]
        await other.send(type="answer_draw", id="2", offer=offer, accept=False)
        await other.next("receipt")
        await host.send(type="request_takeback", id="3")
        assert (await host.next("problem"))["reason"] == "TAKEBACK_REFUSED"
        await other.send(type="answer_takeback", id="4", request=1, accept=True)
        assert (await other.next("problem"))["reason"] == "NOTHING_TO_ANSWER"
        await host.send(type="resign", id="5")
        assert (await host.next("receipt"))["view"]["outcome"]["winners"] == [1]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"type":"follow"}', '{"type":"dance"}', "[" * 20_000, "\x00"]
)
async def test_a_frame_that_cannot_be_read_is_refused_and_the_talk_goes_on(
    system: System, guests: Guests, text: str
) -> None:
    match = begun(guests)
    async with live(system.url, token=guests[0].token) as socket:
        await socket.connection.send(text)
        assert (await socket.next())["reason"] == "BAD_REQUEST"
        await socket.connection.send(text.encode())
        assert (await socket.next())["reason"] == "BAD_REQUEST"
        await socket.send(type="follow", match=match)
        assert (await socket.next())["type"] == "view"


async def test_a_frame_beyond_the_limit_ends_the_connection(system: System, guests: Guests) -> None:
    async with live(system.url, token=guests[0].token) as socket:
        await socket.connection.send('{"type":"follow","match":"' + "x" * 70_000 + '"}')
        assert (await socket.closed())[0] == 1009


PING, PART, TEXT = b"\x89\x80\0\0\0\0", b"\x00\x80\0\0\0\0", b"\x81\x81\0\0\0\0x"  # masked, with nothing


@pytest.mark.parametrize("begun_by", [b"", b"\x01\x80\0\0\0\0"])
@pytest.mark.parametrize("says_hello", [True, False])
async def test_a_peer_that_says_nothing_over_and_over_is_sent_away(
    system: System, guests: Guests, begun_by: bytes, says_hello: bool
) -> None:
    async with live(system.url, "/v1/live", guests[0].token if says_hello else "") as socket:
        frame = PART if begun_by else PING
        socket.connection.transport.write(begun_by + frame * 20_000)
        assert (await socket.closed())[0] == 1008


async def test_some_pings_are_answered_and_harm_nobody(system: System, guests: Guests) -> None:
    async with live(system.url, "/v1/live", guests[0].token) as socket:
        socket.connection.transport.write(PING * 100)
        await socket.send(type="hello", id="1")
        assert (await socket.next("problem"))["id"] == "1"


async def test_very_many_frames_in_one_write_are_answered_one_by_one_or_not_at_all(
    system: System, guests: Guests
) -> None:
    async with (
        live(system.url, "/v1/live", guests[0].token) as flood,
        live(system.url, "/v1/live", guests[1].token) as other,
    ):
        flood.connection.transport.write(TEXT * 30_000)
        await other.send(type="hello", id="still here")
        assert (await other.next("problem"))["id"] == "still here"
        answered = 0
        try:
            while (await flood.next("problem"))["status"] in (400, 429):
                answered += 1
                if answered == 1_000:
                    break
        except ConnectionClosed as end:
            assert end.rcvd is None or end.rcvd.code == 4008
        assert answered


async def test_a_second_hello_is_refused(system: System, guests: Guests) -> None:
    async with live(system.url, token=guests[0].token) as socket:
        await socket.send(type="hello", id="h", token=guests[1].token)
        assert (await socket.next())["id"] == "h"


async def test_frames_cost_what_requests_cost(start_gateway: Start) -> None:
    url = start_gateway(RATE_PER_PLAYER="0.001", BURST_PER_PLAYER="3").url
    guest = Guest(httpx.Client(base_url=url))
    async with live(url, token=guest.token) as socket:
        for _ in range(5):
            await socket.send(type="follow", id="f", match="nope")
        problems = [await socket.next() for _ in range(5)]
    assert {problem["id"] for problem in problems} == {"f"}
    reasons = sorted(problem["reason"] for problem in problems)
    assert reasons == ["NO_SUCH_MATCH"] * 3 + ["TOO_MANY_REQUESTS"] * 2
    answer = guest.get("/v1/matches/nope")
    assert (answer.status_code, answer.json()["reason"]) == (429, "TOO_MANY_REQUESTS")
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.parametrize(
    ("frame", "field"),
    [
        ({"type": "move", "match": "m", "move": {}, "expected_version": "1"}, "expected_version"),
        ({"type": "move", "match": "m", "move": {}}, "expected_version"),
        ({"type": "resign", "match": "m", "why": 1}, "why"),
        ({"type": "resign", "match": "m", "request_id": "\0"}, "request_id"),
        ({"type": "answer_draw", "match": "m", "accept": True}, "offer"),
        ({"type": "dance"}, "type"),
        ({"match": "m"}, "type"),
    ],
)
async def test_a_frame_that_cannot_be_read_is_refused_by_its_id_and_by_the_member_that_is_wrong(
    system: System, guests: Guests, frame: dict[str, object], field: str
) -> None:
    async with live(system.url, "/v1/live", guests[0].token) as socket:
        await socket.send(**frame, id="7")
        problem = await socket.next("problem")
        assert (problem["id"], problem["reason"], problem["field"]) == ("7", "BAD_REQUEST", field)


@pytest.mark.parametrize("frame", [b"{", b"[]", b'{"id":7,"type":"resign"}', b'{"id":"' + b"x" * 65 + b'"}'])
async def test_a_frame_without_an_id_that_can_be_read_is_refused_without_one(
    system: System, guests: Guests, frame: bytes
) -> None:
    async with live(system.url, "/v1/live", guests[0].token) as socket:
        await socket.connection.send(frame.decode())
        problem = await socket.next("problem")
        assert problem["reason"] == "BAD_REQUEST"
        assert "id" not in problem


async def test_a_problem_names_the_match_that_it_is_about(system: System, guests: Guests) -> None:
    match = begun(guests, visibility="private")
    async with live(system.url, "/v1/live", Guest(guests[0].client).token) as socket:
        await socket.send(type="follow", match=match)
        problem = await socket.next("problem")
        assert (problem["match"], problem["reason"]) == (match, "NOT_SEATED")
