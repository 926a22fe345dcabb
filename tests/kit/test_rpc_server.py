import asyncio

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from prometheus_client import REGISTRY

from services.core.errors import Deadline, ServiceDown
from services.kit import rpc_server
from services.kit.process import StartFailed
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings
from services.kit.statuses import Unexpected
from tests.kit.served import RULES, Client, serving
from tests.waiting import until

pytestmark = pytest.mark.anyio


async def ready() -> bytes:
    return b"{}"


async def serving_status(client: Client) -> int:
    stub = health_pb2_grpc.HealthStub(client.channels.channel(client.address))
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=RULES), timeout=5)
    return int(answer.status)


async def is_turned_away(client: Client) -> bool:
    try:
        await serving_status(client)
    except (ServiceDown, grpc.aio.AioRpcError):
        return True
    return False


async def test_an_answer_comes_back_and_is_counted() -> None:
    labels = {"service": "probe", "method": "GetTitle", "code": "OK"}
    before = REGISTRY.get_sample_value("rpc_duration_seconds_count", labels) or 0
    async with serving(ready) as (_, client):
        assert await client.ask() == b"{}"
    assert REGISTRY.get_sample_value("rpc_duration_seconds_count", labels) == before + 1


async def test_a_fault_of_ours_tells_the_caller_nothing_of_the_inside() -> None:
    async def fail() -> bytes:
        raise RuntimeError("the seed is 1234")

    async with serving(fail) as (_, client):
        with pytest.raises(Unexpected) as caught:
            await client.ask()
    assert caught.value.reason == "BUG"
    assert "1234" not in str(caught.value)


@pytest.mark.parametrize("is_unhurried", [False, True])
async def test_a_patient_caller_is_cut_off_by_the_server_unless_the_method_takes_its_time(
    monkeypatch: pytest.MonkeyPatch, is_unhurried: bool
) -> None:
    monkeypatch.setattr(rpc_server, "CALL_S_MAX", 0.05)

    async def dawdle() -> bytes:
        await asyncio.sleep(0.5)
        return b"{}"

    async with serving(dawdle, {"GetTitle"} if is_unhurried else ()) as (_, client):
        if is_unhurried:
            assert await client.ask(timeout_s=60) == b"{}"
        else:
            with pytest.raises(Deadline):
                await client.ask(timeout_s=60)


async def test_a_call_past_its_deadline_is_cancelled_and_says_so() -> None:
    ended = asyncio.Event()

    async def hang() -> bytes:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return b""

    async with serving(hang) as (_, client):
        with pytest.raises(Deadline) as caught:
            await client.ask(timeout_s=0.1)
        await asyncio.wait_for(ended.wait(), 5)
    assert 0 < caught.value.limit_ms <= 100


async def test_a_server_that_stops_takes_no_new_calls_and_finishes_the_open_ones() -> None:
    entered, release = asyncio.Event(), asyncio.Event()

    async def slow() -> bytes:
        entered.set()
        await release.wait()
        return b"done"

    async with serving(slow) as (server, client):
        assert await serving_status(client) == health_pb2.HealthCheckResponse.SERVING
        open_call = asyncio.create_task(client.ask())
        await entered.wait()
        stopping = asyncio.create_task(server.stop(5))
        await until(lambda: is_turned_away(client))
        assert not open_call.done()
        release.set()
        assert await open_call == b"done"
        await stopping


async def test_nobody_listening_is_a_service_that_is_down() -> None:
    async with serving(ready) as (server, client):
        await server.stop(0)
        with pytest.raises(ServiceDown) as caught:
            await client.ask()
    assert caught.value.service == "rules"


async def test_a_taken_port_is_one_clear_line() -> None:
    async with serving(ready) as (_, client):
        port = int(client.address.rpartition(":")[2])
        second = RpcServer(ServiceSettings(port=port), "probe")
        with pytest.raises(StartFailed) as caught:
            await second.start()
        await second.stop(0)
    assert str(port) in str(caught.value)


async def test_reflection_names_the_service() -> None:
    async with serving(ready) as (_, client):
        stub = reflection_pb2_grpc.ServerReflectionStub(client.channels.channel(client.address))
        question = reflection_pb2.ServerReflectionRequest(list_services="")
        async for answer in stub.ServerReflectionInfo(iter([question])):
            names = {service.name for service in answer.list_services_response.service}
    assert RULES in names
