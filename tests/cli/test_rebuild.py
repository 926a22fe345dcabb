import asyncio
import socket

import pytest
from grpc import StatusCode
from waystation.projection.v1.projection_pb2 import Damage, GetRebuildResponse, RebuildResponse
from waystation.projection.v1.projection_pb2_grpc import (
    ProjectionServiceServicer,
    add_ProjectionServiceServicer_to_server,
)

from cli.rebuild import print_rebuilt
from deploy.local.servers import Valkey
from services.core.errors import Deadline, RebuildUnderWay
from services.kit import plain_redis
from services.kit.announce import announce_service
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings
from services.projection import ask_rebuild

pytestmark = pytest.mark.anyio


class Projection(ProjectionServiceServicer):
    """Rebuilds at once with `damage`, refuses to, or goes on until it is `given_up`.

    `waits`: whom it tells to wait for, from one question to the next; it is done after the last. None: it
    is of a release that tells nothing.
    """

    def __init__(self):
        self.refusal = None
        self.damage = {}
        self.is_slow = False
        self.waits = None
        self.told = asyncio.Event()
        self.asked, self.given_up = asyncio.Event(), asyncio.Event()

    async def Rebuild(self, request, context):  # noqa: N802 - named by the proto
        if self.refusal:
            raise self.refusal
        self.asked.set()
        if self.is_slow:
            try:
                await asyncio.Event().wait()
            finally:
                self.given_up.set()
        if self.waits is not None:
            await self.told.wait()
        return RebuildResponse(streams=3, events=12, **self.damage)

    async def GetRebuild(self, request, context):  # noqa: N802 - named by the proto
        if self.waits is None:
            await context.abort(StatusCode.UNIMPLEMENTED, "no such method")
        if not self.waits:
            self.told.set()
            return GetRebuildResponse()
        return GetRebuildResponse(waits_for=self.waits.pop(0))


Projection.__abstractmethods__ = frozenset()  # the other methods are not served here


@pytest.fixture
def store(tmp_path, monkeypatch):
    with Valkey(tmp_path) as valkey:
        monkeypatch.setenv("REDIS_URL", valkey.url)
        yield valkey.url


@pytest.fixture
async def projection(store):
    servicer, server, redis = Projection(), RpcServer(ServiceSettings(), "probe"), plain_redis.connect(store)
    server.add(
        add_ProjectionServiceServicer_to_server, servicer, "waystation.projection.v1.ProjectionService"
    )
    announcer = announce_service(redis, "projection", f"127.0.0.1:{await server.start()}")
    await announcer.start()
    yield servicer
    await announcer.stop()
    await redis.aclose()
    await server.stop(0)


async def test_how_much_was_folded_is_told(projection, capsys):
    assert await print_rebuilt(None) == 0
    assert capsys.readouterr().out == "rebuilt: 12 events of 3 streams\n"


async def test_whom_a_rebuild_waits_for_is_told_once_and_that_it_goes_on(projection, capsys, monkeypatch):
    monkeypatch.setattr(ask_rebuild, "LOOK_S", 0.01)
    projection.waits = [[], ["the lobby"], ["the lobby"], ["a worker of wayfare", "the lobby"], []]
    assert await print_rebuilt(None) == 0
    assert capsys.readouterr().out.splitlines() == [
        "waiting for the lobby",
        "waiting for a worker of wayfare, the lobby",
        "going on",
        "rebuilt: 12 events of 3 streams",
    ]


async def test_a_projection_that_does_not_tell_whom_it_waits_for_rebuilds(projection, capsys, monkeypatch):
    monkeypatch.setattr(ask_rebuild, "LOOK_S", 0)
    assert await print_rebuilt(None) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "rebuilt: 12 events of 3 streams"


async def test_that_a_rebuild_is_under_way_already_is_told_in_one_line(projection, capsys):
    projection.refusal = RebuildUnderWay()
    assert await print_rebuilt(None) == 1
    said = "not rebuilt: a rebuild of the read models is under way; one runs at a time"
    assert capsys.readouterr().out.splitlines()[-1] == said  # after the server's own line of the refusal


async def test_without_a_projection_the_command_says_that_there_is_none(store, capsys):
    assert await print_rebuilt(None) == 1
    assert capsys.readouterr().out == "not rebuilt: projection does not answer: no live process\n"


async def test_damaged_streams_that_were_left_out_are_named_and_the_exit_code_tells(projection, capsys):
    projection.damage = {
        "damaged_streams": 9,
        "damages": [Damage(stream="match/m1", version=3, detail="its hash is wrong")],
    }
    assert await print_rebuilt(None) == 1
    assert capsys.readouterr().out.splitlines() == [
        "rebuilt: 12 events of 3 streams",
        "left out: match/m1 is damaged at version 3: its hash is wrong",
        "left out: 8 more damaged streams, which the projection's log names",
    ]


async def test_no_message_speaks_of_a_request_id_which_a_rebuild_does_not_have(projection, capsys):
    projection.refusal = Deadline(5_000)
    assert await print_rebuilt(None) == 1
    assert "not rebuilt: no answer within 5000 ms" in (out := capsys.readouterr().out)
    assert "request id" not in out


@pytest.fixture
async def announced(store):
    """Announces a projection at an address, as one that has died is for some seconds more."""
    redis, announcers = plain_redis.connect(store), []

    async def announce(address):
        announcers.append(announce_service(redis, "projection", address))
        await announcers[-1].start()

    yield announce
    for announcer in announcers:
        await announcer.stop()
    await redis.aclose()


@pytest.fixture
def mute(monkeypatch):
    """The address of a process that takes connections and never says a word on them."""
    monkeypatch.setattr(ask_rebuild, "ANSWER_S_MAX", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


async def test_a_projection_that_does_not_answer_is_named(announced, mute, capsys):
    await announced(mute)
    assert await print_rebuilt(None) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"projection at {mute} does not answer",
        "not rebuilt: projection does not answer: no live process",
    ]


async def test_while_some_do_not_answer_one_that_does_rebuilds(announced, mute, projection, capsys):
    await announced("127.0.0.1:1")
    await announced(mute)
    assert await print_rebuilt(None) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "rebuilt: 12 events of 3 streams"


async def test_an_interrupted_rebuild_is_given_up_which_the_command_says(projection, capsys):
    projection.is_slow = True
    asking = asyncio.create_task(print_rebuilt(None))
    await projection.asked.wait()
    asking.cancel()
    assert await asking == 130
    assert capsys.readouterr().out == (
        "not rebuilt: interrupted; the projection gives up, and the lists stay as they were\n"
    )
    await projection.given_up.wait()


@pytest.mark.parametrize("port", ["", "0", "none"])
def test_without_a_port_the_module_says_what_to_set(port, monkeypatch, capsys):
    monkeypatch.setenv("PORT", port)
    assert ask_rebuild.main() == 2
    assert capsys.readouterr().err.startswith("not rebuilt: PORT ")
