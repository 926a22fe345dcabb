"""One Idempotency-Key, one to five times, through different gateways and workers: one event, one answer."""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

import aiohttp
import pytest
from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1.rules_pb2_grpc import RulesServiceStub

from deploy.local.servers import free_port
from services.core.errors import DomainError
from services.core.ids import StreamName, match_stream, table_stream
from services.kit import plain_redis
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.redis_store import RedisStore
from tests.e2e.serving import UNLIMITED
from tests.e2e.site import Player, Site, gathered
from tests.faults.fire import FireSystem
from tests.rules.hosting import events_in

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SIZE = {"size": 6}
TRIES_MAX = 240
PAUSE_S = 0.25


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FireSystem]:
    """Two of everything that answers commands."""
    running = FireSystem(
        data=tmp_path_factory.mktemp("system"),
        workers={"wayfare": 2, "a_way": 1},
        ports=[free_port(), free_port()],
        fsync="always",
        env=UNLIMITED,
    )
    running.start()
    yield running
    running.stop()


class Command(NamedTuple):
    """A request; `other`: a body that its key must not be used for. `stream`: where its event goes."""

    player: Player
    path: str
    body: dict[str, Any]
    other: dict[str, Any]
    key: str
    stream: Callable[[Any], StreamName]  # of its answer


async def a_move(site: Site) -> Command:
    players = await site.players(2)
    match = await gathered(players, "wayfare", options=SIZE)
    page = await players[0].legal_moves(match)
    one, other = (
        {"move": choice["move"], "expected_version": page["version"]} for choice in page["choices"][:2]
    )
    path = f"/v1/matches/{match}/moves"
    return Command(
        players[0], path, one, other, uuid.uuid4().hex, lambda answer: match_stream(answer["match"])
    )


async def a_table(site: Site) -> Command:
    table = {"title": "a_way", "seats": 3}
    other = {"title": "a_way", "seats": 4}
    return Command(
        await site.player(), "/v1/matches", table, other, uuid.uuid4().hex, lambda a: table_stream(a["match"])
    )


async def a_seat(site: Site) -> Command:
    host, guest = await site.players(2)
    match = (await host.create("a_way", seats=3))["match"]
    path = f"/v1/matches/{match}/seats"
    return Command(guest, path, {}, {"nonce": "other"}, uuid.uuid4().hex, lambda _: table_stream(match))


KINDS: list[Callable[[Site], Awaitable[Command]]] = [a_move, a_table, a_seat]


async def posted(site: Site, gateway: int, command: Command, body: Any) -> tuple[int, Any]:
    """Status and answer of one gateway, asked once more whenever it says "later"."""
    assert site.client is not None
    headers = {"Authorization": f"Bearer {command.player.token}", "Idempotency-Key": command.key}
    url = site.urls[gateway % len(site.urls)] + command.path
    for _ in range(TRIES_MAX):
        try:
            async with site.client.post(url, headers=headers, json=body) as response:
                if response.status not in (429, 503, 504):
                    return response.status, json.loads(await response.read())
        except aiohttp.ClientConnectionError:
            pass
        await asyncio.sleep(PAUSE_S)
    raise AssertionError(f"no answer to {command.path}")


async def at_once(site: Site, command: Command, times: int) -> Any:
    """The one answer that `times` requests got at the same time."""
    answers = await asyncio.gather(
        *(posted(site, gateway, command, command.body) for gateway in range(times))
    )
    assert answers == [answers[0]] * times
    status, answer = answers[0]
    assert status < 300, answer
    return answer


async def times_stored(store: RedisStore, stream: StreamName, key: str) -> int:
    return sum(event.request_id == key for event in events_in(await store.read(stream)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [1, 2, 3, 4, 5])
async def test_a_command_sent_many_times_at_once_is_carried_out_once(site, store, kind, times):
    command = await kind(site)
    answer = await at_once(site, command, times)
    assert await times_stored(store, command.stream(answer), command.key) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_another_body_under_the_same_key_is_refused_and_nothing_is_stored(site, store, kind):
    command = await kind(site)
    stream = command.stream(await at_once(site, command, 2))
    heads = await store.heads([stream])
    for gateway in range(2):
        status, problem = await posted(site, gateway, command, command.other)
        assert (status, problem["reason"]) == (409, "REQUEST_ID_REUSED")
    assert await store.heads([stream]) == heads
    assert await times_stored(store, stream, command.key) == 1


async def test_a_move_sent_to_both_workers_and_both_gateways_is_stored_once(system, site, store):
    command = await a_move(site)
    redis, channels = plain_redis.connect(system.redis_url), Channels()
    directory = Directory(redis)
    await directory.refresh()
    workers = [worker.address for worker in directory.workers("wayfare")]
    assert len(workers) == 2
    request = pb.SubmitCommandRequest(
        match=command.path.split("/")[3],
        player=command.player.id,
        request_id=command.key,
        expected_version=command.body["expected_version"],
        submit_move=pb.SubmitMove(move=json.dumps(command.body["move"]).encode()),
    )
    stubs = [channels.stub(RulesServiceStub, address) for address in workers]
    asked = [channels.call(stub.SubmitCommand, request, 30.0) for stub in stubs]
    at_gateways = [posted(site, gateway, command, command.body) for gateway in range(2)]
    *accepted, (_, one), (_, other) = await asyncio.gather(*asked, *at_gateways)
    assert [json.loads(each.receipt) for each in accepted] == [one, other] == [one, one]
    assert await times_stored(store, command.stream(one), command.key) == 1
    await channels.close()
    await redis.aclose()


async def test_after_everything_was_killed_the_same_key_gets_the_same_answer(system, site, store):
    commands = [await kind(site) for kind in KINDS]
    before = [await at_once(site, command, 2) for command in commands]
    for service in system.services.values():
        service.kill()
    system.valkey.kill()
    system.valkey.start()
    for service in system.services.values():
        service.start()
    for command, answer in zip(commands, before, strict=True):
        assert await at_once(site, command, 4) == answer
        status, problem = await posted(site, 0, command, command.other)
        assert (status, problem["reason"]) == (409, "REQUEST_ID_REUSED")
        assert await stored_in_time(store, command.stream(answer), command.key) == 1


async def stored_in_time(store: RedisStore, stream: StreamName, key: str) -> int:
    """`times_stored`, by a connection that may have to be made anew."""
    for _ in range(TRIES_MAX):
        try:
            return await times_stored(store, stream, key)
        except DomainError:
            await asyncio.sleep(PAUSE_S)
    raise AssertionError("the store does not answer")
