"""`TITLE=wayfare python -m services.rules`: one worker of one title, from its start to its last answer."""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated

import structlog
from msgspec import Meta
from waystation.rules.v1.rules_pb2_grpc import add_RulesServiceServicer_to_server

from services.core.ids import Slug
from services.kit import announce, plain_redis
from services.kit.announce import Announcer
from services.kit.bus import Bus
from services.kit.directory import Directory
from services.kit.process import ServiceSettings, StartFailed, run
from services.kit.redis_library import UnsafeRedis
from services.kit.redis_store import RedisStore
from services.kit.rpc_server import RpcServer
from services.rules.library import load
from services.rules.worker import Worker

DRAIN_S_MAX = 3.0  # for callers on streams
STOP_S_MAX = 2.0  # for unary calls, afterwards

log = structlog.get_logger()


class RulesSettings(ServiceSettings, frozen=True, kw_only=True):
    """`title`: the slug of the title to host. `cached_matches`: how many are kept folded in memory."""

    title: str
    cached_matches: Annotated[int, Meta(ge=1)] = 4_096


async def main(settings: RulesSettings, stop: asyncio.Event) -> None:
    """Serves until `stop` is set; then finishes what is open and leaves."""
    library = load(settings.title)
    async with AsyncExitStack() as parts:
        store = await _store(settings)
        parts.push_async_callback(store.close)
        redis = plain_redis.connect(settings.redis_url)
        parts.push_async_callback(redis.aclose)
        directory = Directory(redis)
        await directory.start()
        parts.push_async_callback(directory.stop)
        bus = _bus(settings)
        bus.start()
        parts.push_async_callback(bus.stop)

        def newest() -> int:
            return directory.newest_common_version(library.slug)

        worker = Worker(library, store, bus, newest, settings.cached_matches)
        worker.start()
        parts.push_async_callback(worker.stop)
        server = RpcServer(settings, "rules")
        server.add(add_RulesServiceServicer_to_server, worker.servicer, "waystation.rules.v1.RulesService")
        address = settings.address(await server.start())
        parts.push_async_callback(server.stop, STOP_S_MAX)
        announcer = Announcer(
            redis,
            announce.Worker(Slug(library.slug), address, tuple(library.rulesets), library.description),
        )
        await announcer.start()
        parts.push_async_callback(announcer.stop)
        await directory.refresh()  # so that the first match to start finds its title announced
        log.info("service_started", title=library.slug, address=address)
        await stop.wait()
        await announcer.drain()
        await worker.servicer.exchange.drain(DRAIN_S_MAX)


async def _store(settings: RulesSettings) -> RedisStore:
    try:
        return await RedisStore.open(settings.redis_url, unsafe=settings.redis_unsafe)
    except (UnsafeRedis, ValueError) as error:
        raise StartFailed(str(error)) from error


def _bus(settings: RulesSettings) -> Bus:
    try:
        return Bus(settings.nats_url, "rules")
    except ValueError as error:
        raise StartFailed(str(error)) from error


if __name__ == "__main__":
    run("rules", main, RulesSettings)
