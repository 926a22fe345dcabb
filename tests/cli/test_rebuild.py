import pytest
from waystation.projection.v1.projection_pb2 import RebuildResponse
from waystation.projection.v1.projection_pb2_grpc import (
    ProjectionServiceServicer,
    add_ProjectionServiceServicer_to_server,
)

from cli.rebuild import print_rebuilt
from deploy.local.servers import Valkey
from services.core.errors import LimitReached
from services.kit import plain_redis
from services.kit.announce import announce_service
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings

pytestmark = pytest.mark.anyio


class Projection(ProjectionServiceServicer):
    """Rebuilds at once, or refuses to."""

    refusal = None

    async def Rebuild(self, request, context):  # noqa: N802 - named by the proto
        if self.refusal:
            raise self.refusal
        return RebuildResponse(streams=3, events=12)


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


async def test_that_a_rebuild_is_under_way_already_is_told_in_one_line(projection, capsys):
    projection.refusal = LimitReached("rebuild of the read models at a time, and one is under way", 1)
    assert await print_rebuilt(None) == 1
    said = "not rebuilt: there may be at most 1 rebuild of the read models at a time, and one is under way"
    assert capsys.readouterr().out.splitlines()[-1] == said  # after the server's own line of the refusal


async def test_without_a_projection_the_command_says_that_there_is_none(store, capsys):
    assert await print_rebuilt(None) == 1
    assert capsys.readouterr().out == "not rebuilt: projection does not answer: no live process\n"
