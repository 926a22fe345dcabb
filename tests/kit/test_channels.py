import asyncio

import pytest
from waystation.rules.v1.rules_pb2_grpc import RulesServiceStub

from services.core.errors import Deadline
from services.kit import channels as channels_module
from services.kit.channels import Channels
from tests.kit.served import serving

pytestmark = pytest.mark.anyio


async def test_an_address_keeps_its_channel_and_its_stub() -> None:
    channels = Channels()
    assert channels.channel("127.0.0.1:1") is channels.channel("127.0.0.1:1")
    assert channels.stub(RulesServiceStub, "127.0.0.1:1") is channels.stub(RulesServiceStub, "127.0.0.1:1")
    assert channels.channel("127.0.0.1:1") is not channels.channel("127.0.0.1:2")
    await channels.close()


async def test_the_channel_used_longest_ago_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels_module, "CHANNELS_MAX", 2)
    channels = Channels()
    first, second = channels.channel("127.0.0.1:1"), channels.channel("127.0.0.1:2")
    channels.channel("127.0.0.1:1")
    channels.channel("127.0.0.1:3")
    assert channels.channel("127.0.0.1:1") is first
    assert channels.channel("127.0.0.1:2") is not second
    await channels.close()


async def test_no_time_left_is_a_deadline_without_a_call() -> None:
    asked: list[None] = []

    async def answer() -> bytes:
        asked.append(None)
        return b""

    async with serving(answer) as (_, client):
        with pytest.raises(Deadline):
            await client.ask(timeout_s=0)
    assert asked == []


async def test_a_caller_that_gives_up_ends_the_call_at_the_server() -> None:
    entered, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> bytes:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return b""

    async with serving(hang) as (_, client):
        call = asyncio.create_task(client.ask())
        await entered.wait()
        call.cancel()
        await asyncio.wait_for(ended.wait(), 5)
