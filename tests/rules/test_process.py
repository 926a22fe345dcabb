"""Whole workers as processes, on a real store and a real bus."""

import asyncio
import json
import random
import subprocess
import sys
from functools import cache

import nats
import pytest
from waystation.events.v1.events_pb2 import PublishedEvent
from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1.rules_pb2_grpc import RulesServiceStub

from services.core.errors import (
    BadRequest,
    MoveUnreadable,
    NotYourTurn,
    OptionInvalid,
    RequestIdReused,
    TooLarge,
    VersionConflict,
)
from services.core.record import read_record, verify
from services.kit import plain_redis
from services.kit.directory import Directory
from services.rules.library import load
from tests.rules.hosting import entries_of, sit_down
from tests.rules.processes import ROOT, Client, WorkerProcess
from tests.titles.found import SLUGS

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NOWHERE = "nats://127.0.0.1:1"


@pytest.fixture(scope="module")
def launch(valkey_url, nats_url, tmp_path_factory):
    """Starts workers: `launch("wayfare")`."""
    workers: list[WorkerProcess] = []
    logs = tmp_path_factory.mktemp("rules")

    def start(title: str, nats_url: str = nats_url) -> WorkerProcess:
        worker = WorkerProcess(title, valkey_url, nats_url, logs / f"{title}-{len(workers)}.log")
        workers.append(worker)
        return worker.start()

    yield start
    for worker in workers:
        if worker.child is not None:
            worker.kill()


@pytest.fixture(scope="module")
def worker_of(launch):
    """A title's worker, the same one for all tests that leave it alive."""
    return cache(launch)


@pytest.fixture
async def client():
    client = Client("")
    yield client
    await client.channels.close()


@pytest.mark.parametrize("slug", SLUGS)
async def test_a_whole_random_match_of_every_title_and_its_record_proves_itself(
    worker_of, client, store, new_match, slug
):
    client.address = worker_of(slug).address
    library, rng = load(slug), random.Random(slug)
    for seats in (library.title.seats.start, library.title.seats.stop - 1):
        match = new_match()
        await sit_down(store, match)
        assert await client.starts(match, seats) == 1
        view = await client.plays(match, rng)
        assert (view["status"], view["version"]) == ("over", len(await entries_of(store, match)))
        record = await client.calls("GetRecord", pb.GetRecordRequest(match=match))
        steps = verify(read_record(record.record), library.ruleset_for)
        assert [step.event.version for step in steps] == list(range(1, view["version"] + 1))


async def test_the_description_is_announced_and_says_what_a_client_needs(worker_of, client, valkey_url):
    worker = worker_of("wayfare")
    client.address = worker.address
    answer = await client.calls("GetTitle", pb.GetTitleRequest())
    told = json.loads(answer.description)
    assert (told["slug"], told["name"], told["rules_versions"]) == ("wayfare", "Wayfare", [1])
    assert told["seats"] == {"min": 2, "max": 2}
    assert told["takebacks"] is True
    assert {"options", "move", "view"} < set(told["schemas"])
    assert told["rules"]
    assert told["text"].startswith("#")
    redis = plain_redis.connect(valkey_url)
    directory = Directory(redis)
    await directory.refresh()
    assert directory.title("wayfare").description == answer.description
    assert worker.address in [member.address for member in directory.workers("wayfare")]
    await redis.aclose()


async def test_options_are_completed_or_refused(worker_of, client):
    client.address = worker_of("make_way").address
    checked = await client.calls("CheckOptions", pb.CheckOptionsRequest())
    assert (checked.seats, checked.seats_min) == (2, 2)
    assert json.loads(checked.options)["rounds"] == 3
    for wrong in (
        pb.CheckOptionsRequest(seats=9),
        pb.CheckOptionsRequest(seats=-1),
        pb.CheckOptionsRequest(options=b'{"rounds":-1}'),
        pb.CheckOptionsRequest(options=b'{"colour":"red"}'),
    ):
        with pytest.raises(OptionInvalid):
            await client.calls("CheckOptions", wrong)
    with pytest.raises(BadRequest):
        await client.calls("CheckOptions", pb.CheckOptionsRequest(options=b"{"))


async def test_refusals_travel_typed_and_store_nothing(worker_of, client, store, new_match):
    client.address = worker_of("wayfare").address
    match = await _started(client, store, new_match())
    move, *_ = await client.moves(match, random.Random(1))
    other = "bob" if move.player == "ann" else "ann"

    def changed(**fields):
        request = pb.SubmitCommandRequest()
        request.CopyFrom(move)
        for name, value in fields.items():
            setattr(request, name, value)
        return request

    unreadable = changed()
    unreadable.submit_move.move = b'{"type":"fly"}'
    too_large = changed()
    too_large.submit_move.move = b" " * 20_000
    silent = changed()
    silent.ClearField("submit_move")
    for request, refusal in (
        (changed(player=other), NotYourTurn),
        (changed(expected_version=5), VersionConflict),
        (unreadable, MoveUnreadable),
        (too_large, TooLarge),
        (silent, BadRequest),
        (changed(request_id="x" * 300), BadRequest),
    ):
        with pytest.raises(refusal):
            await client.calls("SubmitCommand", request)
    assert len(await entries_of(store, match)) == 1


def told(answer: pb.SubmitCommandResponse) -> tuple[bytes, int]:
    """What a repetition is told too; the event comes with the first answer alone."""
    return answer.receipt, answer.version


async def test_the_same_request_is_answered_by_another_worker_with_the_same_receipt(
    launch, worker_of, client, store, new_match
):
    one, other = worker_of("wayfare"), launch("wayfare")
    client.address = one.address
    match = await _started(client, store, new_match())
    move, another, *_ = await client.moves(match, random.Random(2))
    first = await client.calls("SubmitCommand", move)
    client.address = other.address
    assert told(await client.calls("SubmitCommand", move)) == told(first)
    await client.plays(match, random.Random(3), moves=3)
    assert told(await client.calls("SubmitCommand", move)) == told(first)
    with pytest.raises(RequestIdReused):
        await client.calls("SubmitCommand", another)


async def test_a_worker_that_is_killed_in_mid_command_is_replaced_without_loss(
    launch, worker_of, client, store, new_match
):
    """Each command that was open when the worker died is sent again: it is stored exactly once."""
    dying, staying = launch("make_way"), worker_of("make_way")
    client.address = dying.address
    matches = [await _started(client, store, new_match()) for _ in range(20)]
    rng = random.Random(4)
    moves = [(await client.moves(match, rng))[0] for match in matches]
    calls = [pb.Call(id=number, submit_command=move) for number, move in enumerate(moves)]
    stream = client.channels.stub(RulesServiceStub, dying.address).Exchange()
    await stream.write(pb.ExchangeRequest(calls=calls[:1]))
    answered = {answer.id: answer for answer in (await stream.read()).answers}
    await stream.write(pb.ExchangeRequest(calls=calls[1:]))  # in flight when the worker dies
    dying.kill()
    stream.cancel()
    client.address = staying.address
    for number, move in enumerate(moves):
        receipt = await client.calls("SubmitCommand", move)
        assert number not in answered or told(answered[number].submit_command) == told(receipt)
    for match in matches:
        assert len(await entries_of(store, match)) == 2
    assert (await client.plays(matches[-1], rng))["status"] == "over"


async def test_takebacks_draws_and_resignations_walk_through_the_worker(worker_of, client, store, new_match):
    client.address = worker_of("wayfare").address
    match = await _started(client, store, new_match())
    first, *_ = await client.moves(match, random.Random(5))
    await client.calls("SubmitCommand", first)
    mover, other = first.player, "bob" if first.player == "ann" else "ann"

    async def does(player, **command):
        return await client.calls(
            "SubmitCommand", pb.SubmitCommandRequest(match=match, player=player, **command)
        )

    before = await client.views(match, version=1)
    request = await does(mover, request_takeback=pb.RequestTakeback())
    back = await does(other, answer_takeback=pb.AnswerTakeback(request=request.version, accept=True))
    taken_back = json.loads(back.receipt)["view"]
    assert (taken_back["version"], taken_back["view"]) == (4, before["view"])
    offer = await does(other, offer_draw=pb.OfferDraw())
    await does(mover, answer_draw=pb.AnswerDraw(offer=offer.version, accept=False))
    again = await does(other, offer_draw=pb.OfferDraw())
    drawn = await does(mover, answer_draw=pb.AnswerDraw(offer=again.version, accept=True))
    outcome = json.loads(drawn.receipt)["view"]["outcome"]
    assert outcome == {"winners": [0, 1], "reason": "agreement"}
    assert [json.loads(entry.body)["type"] for entry in await entries_of(store, match)] == [
        "match_started",
        "move_made",
        "takeback_requested",
        "takeback_accepted",
        "draw_offered",
        "draw_declined",
        "draw_offered",
        "draw_accepted",
    ]


async def test_an_operators_abort_ends_the_match_and_may_be_repeated(worker_of, client, store, new_match):
    client.address = worker_of("wayfare").address
    match = await _started(client, store, new_match())
    abort = pb.SubmitCommandRequest(
        match=match, player="root", request_id="stop", abort=pb.Abort(note="the power fails")
    )
    receipt = await client.calls("SubmitCommand", abort)
    assert json.loads(receipt.receipt)["view"]["outcome"] == {"winners": [], "reason": "abort"}
    assert told(await client.calls("SubmitCommand", abort)) == told(receipt)


async def test_with_nats_away_matches_are_played_to_their_end(launch, client, store, new_match):
    worker = launch("make_way", nats_url=NOWHERE)
    client.address = worker.address
    match = await _started(client, store, new_match())
    assert (await client.plays(match, random.Random(6)))["status"] == "over"
    worker.asked_to_stop()
    assert await worker.exit_code() == 0


async def test_each_audience_hears_each_version_once_and_the_read_models_too(
    worker_of, client, store, new_match, nats_url
):
    client.address = worker_of("make_way").address
    bus = await nats.connect(nats_url)
    match = new_match()
    stream = client.channels.stub(RulesServiceStub, client.address).Exchange()
    audiences = [pb.Audience(match=match, seat=seat) for seat in (0, 1, None)]
    nothing = pb.Call(id=1, get_match=pb.GetMatchRequest(match=match))
    await stream.write(pb.ExchangeRequest(follow=audiences, calls=[nothing]))
    assert len((await stream.read()).answers) == 1
    events = await bus.subscribe(f"events.make_way.*.{match}")
    await bus.flush()
    await _started(client, store, match)
    view = await client.plays(match, random.Random(7))
    heard: dict[int | None, list[int]] = {0: [], 1: [], None: []}
    while sum(map(len, heard.values())) < 3 * view["version"]:
        async with asyncio.timeout(5):
            message = await stream.read()
        for push in message.pushes:
            told = json.loads(push.happened)
            assert push.version == told["version"] == told["event"]["version"] == told["view"]["version"]
            heard[push.seat if push.HasField("seat") else None].append(push.version)
    stream.cancel()
    versions = list(range(1, view["version"] + 1))
    assert heard == {0: versions, 1: versions, None: versions}
    published = [PublishedEvent.FromString((await events.next_msg(timeout=5)).data).version for _ in versions]
    assert published == versions
    await bus.close()


async def test_a_worker_asked_to_stop_drains_its_streams_and_exits_cleanly(
    launch, client, store, new_match, valkey_url
):
    worker = launch("wayfare")
    client.address = worker.address
    match = await _started(client, store, new_match())
    stream = client.channels.stub(RulesServiceStub, worker.address).Exchange()
    read = pb.Call(id=1, get_match=pb.GetMatchRequest(match=match))
    await stream.write(pb.ExchangeRequest(calls=[read]))
    assert (await stream.read()).answers[0].get_match.version == 1
    worker.asked_to_stop()
    assert (await stream.read()).draining
    await stream.write(pb.ExchangeRequest(calls=[read]))
    assert (await stream.read()).answers[0].get_match.version == 1
    assert await worker.exit_code() == 0
    redis = plain_redis.connect(valkey_url)
    directory = Directory(redis)
    await directory.refresh()
    assert worker.address not in [member.address for member in directory.workers("wayfare")]
    await redis.aclose()
    assert worker.lines()[-1]["event"] == "service_stopped"


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        ({"TITLE": "chess"}, "rules: TITLE names a title that is not there: chess"),
        ({"TITLE": "../secrets"}, "rules: TITLE is no name of a title: '../secrets'"),
        ({}, "rules: TITLE must be set"),
    ],
)
def test_a_worker_that_cannot_start_says_why_in_one_line(environment, line):
    done = subprocess.run(
        [sys.executable, "-m", "services.rules"],
        cwd=ROOT,
        env={"PATH": "", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.splitlines()) == (1, [line])


async def _started(client: Client, store, match: str) -> str:
    """A match between ann and bob."""
    await sit_down(store, match)
    await client.starts(match, 2)
    return match
