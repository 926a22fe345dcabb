"""gRPC straight at the services: whatever comes is refused by a typed answer, and nothing is stored."""

import random
from collections import Counter

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from grpc import StatusCode
from waystation.lobby.v1 import lobby_pb2
from waystation.projection.v1 import projection_pb2
from waystation.rules.v1 import rules_pb2

from services.kit.directory import Directory
from services.kit.rpc_server import MESSAGE_BYTES_MAX
from tests.e2e.site import gathered
from tests.hostile.conftest import pids
from tests.hostile.messages import hostile, message
from tests.hostile.stored import changed, stored

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SEED = 20260203
MESSAGES = 12  # of each kind of ruin, for each method
SERVICES = {
    "rules": rules_pb2.DESCRIPTOR.services_by_name["RulesService"],
    "lobby": lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    "projection": projection_pb2.DESCRIPTOR.services_by_name["ProjectionService"],
}
# An operator's call, whose request has no fields: whatever is sent, it rebuilds.
REBUILD = "Rebuild"
METHODS = [
    (service, method)
    for service, described in SERVICES.items()
    for method in described.methods
    if method.name != REBUILD
]
FAULTS = {StatusCode.INTERNAL, StatusCode.UNKNOWN, StatusCode.DATA_LOSS, StatusCode.UNAVAILABLE}


@pytest.fixture
async def addresses(redis):
    directory = Directory(redis)
    await directory.refresh()
    return {
        "rules": directory.workers("make_way")[0].address,
        "lobby": directory.service("lobby"),
        "projection": directory.service("projection"),
    }


@pytest.mark.parametrize(
    ("service", "method"), METHODS, ids=[f"{service}-{method.name}" for service, method in METHODS]
)
async def test_no_message_is_a_fault_ends_a_service_or_is_stored(
    system, site, redis, addresses, service: str, method: MethodDescriptor
):
    await gathered(await site.players(2), "make_way")
    before, living = await stored(redis), pids(system)
    print(f"seed {SEED}")
    rng = random.Random(f"{SEED} {service} {method.name}")
    codes: Counter[StatusCode] = Counter()
    async with grpc.aio.insecure_channel(addresses[service]) as channel:
        path = f"/{method.containing_service.full_name}/{method.name}"
        for body in hostile(rng, method.input_type, MESSAGES):
            code, details = await _answer(channel, path, body, is_stream=method.name == "Exchange")
            assert code not in FAULTS, (body[:200], code, details)
            assert "Traceback" not in details, (body[:200], details)
            codes[code] += 1
    assert codes[StatusCode.INVALID_ARGUMENT] + codes[StatusCode.OK] > 0
    assert pids(system) == living
    assert changed(before, await stored(redis)) == []


@pytest.mark.parametrize("service", SERVICES)
async def test_a_message_of_ten_megabytes_is_refused_by_its_size(system, addresses, service):
    living = pids(system)
    method = SERVICES[service].methods[0]
    async with grpc.aio.insecure_channel(addresses[service]) as channel:
        path = f"/{method.containing_service.full_name}/{method.name}"
        code, details = await _answer(channel, path, b"x" * 10_000_000)
    assert (code, str(MESSAGE_BYTES_MAX) in details) == (StatusCode.RESOURCE_EXHAUSTED, True)
    assert pids(system) == living


async def test_a_stream_that_is_all_noise_leaves_other_streams_alone(system, redis, addresses):
    rng = random.Random(SEED)
    living = pids(system)
    path = "/waystation.rules.v1.RulesService/Exchange"
    call = rules_pb2.ExchangeRequest(calls=[rules_pb2.Call(id=7)]).SerializeToString()
    async with grpc.aio.insecure_channel(addresses["rules"]) as channel:
        honest = channel.stream_stream(path)()
        for _ in range(20):
            await _answer(channel, path, rng.randbytes(500), is_stream=True)
            await honest.write(call)
            answer = rules_pb2.ExchangeResponse.FromString(await honest.read())
            assert [(each.id, each.refusal.reason) for each in answer.answers] == [(7, "BAD_REQUEST")]
        await honest.done_writing()
    assert pids(system) == living


def test_hostile_messages_are_the_same_for_the_same_seed():
    kind = rules_pb2.SubmitCommandRequest.DESCRIPTOR
    assert [message(random.Random(seed), kind) for seed in range(5)] == [
        message(random.Random(seed), kind) for seed in range(5)
    ]


async def _answer(
    channel: grpc.aio.Channel, path: str, body: bytes, is_stream: bool = False
) -> tuple[StatusCode, str]:
    """How the call ended."""
    try:
        if is_stream:
            call = channel.stream_stream(path)(timeout=30)
            await call.write(body)
            await call.done_writing()
            while await call.read() is not grpc.aio.EOF:
                pass
            return await call.code(), await call.details() or ""
        await channel.unary_unary(path)(body, timeout=30)
    except grpc.aio.AioRpcError as failed:
        return failed.code(), failed.details() or ""
    return StatusCode.OK, ""
