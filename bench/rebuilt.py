"""How fast a running projection folds all streams anew, by the clock, with the workers that it asks."""

import asyncio
import time

from msgspec import Struct
from waystation.projection.v1 import projection_pb2 as pb
from waystation.projection.v1.projection_pb2_grpc import ProjectionServiceStub

from deploy.local.system import System
from services.kit import plain_redis
from services.kit.channels import Channels
from services.kit.directory import Directory

REBUILD_S_MAX = 600.0


class Rebuilding(Struct, frozen=True):
    events: int
    seconds: float

    @property
    def events_s(self) -> float:
        return self.events / self.seconds


def measured(system: System) -> Rebuilding:
    """Of all that a load has left in the store."""
    return asyncio.run(_measured(system.redis_url))


async def _measured(redis_url: str) -> Rebuilding:
    redis, channels = plain_redis.connect(redis_url), Channels()
    directory = Directory(redis)
    await directory.start()
    try:
        stub = channels.stub(ProjectionServiceStub, directory.service("projection"))
        began = time.perf_counter()
        done = await stub.Rebuild(pb.RebuildRequest(), timeout=REBUILD_S_MAX)
        assert not done.damages, "a bench damages nothing"
        return Rebuilding(done.events, time.perf_counter() - began)
    finally:
        await directory.stop()
        await channels.close()
        await redis.aclose()
