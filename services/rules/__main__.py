"""`TITLE=wayfare python -m services.rules`: one worker of one title, from its start to its last answer."""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated

import structlog
from msgspec import Meta
from waystation.rules.v1.rules_pb2_grpc import add_RulesServiceServicer_to_server

from services.core.ids import Slug
from services.kit import announce
from services.kit.announce import Announcer
from services.kit.backends import backends
from services.kit.cache import Room
from services.kit.process import run
from services.kit.rpc_server import RpcServer
from services.kit.settings import Seconds, ServiceSettings
from services.rules.library import load
from services.rules.worker import Worker

DRAIN_S_MAX = 3.0  # for callers on streams
STOP_S_MAX = 2.0  # for unary calls, afterwards

log = structlog.get_logger()

Count = Annotated[int, Meta(ge=1)]


class RulesSettings(ServiceSettings, frozen=True, kw_only=True):
    """`title`: the slug of the title to host.

    `cached_matches`, `cached_bytes`: how many matches are kept folded, and how much memory they may take.
    `cached_s`: a match that nobody asks for is forgotten after so many seconds.
    """

    title: str
    cached_matches: Count = 16_384
    cached_bytes: Count = 160 * 1024 * 1024
    cached_s: Seconds = 900.0

    @property
    def room(self) -> Room:
        return Room(values=self.cached_matches, bytes=self.cached_bytes, idle_s=self.cached_s)


async def main(settings: RulesSettings, stop: asyncio.Event) -> None:
    """Serves until `stop` is set; then finishes what is open and leaves."""
    library = load(settings.title)
    async with backends(settings, "rules") as behind, AsyncExitStack() as parts:

        def newest() -> int:
            return behind.directory.newest_common_version(library.slug)

        worker = Worker(library, behind.store, behind.bus, newest, settings.room)
        worker.start()
        parts.push_async_callback(worker.stop)
        server = RpcServer(settings, "rules")
        server.add(add_RulesServiceServicer_to_server, worker.servicer, "waystation.rules.v1.RulesService")
        address = settings.address(await server.start())
        server.watch(lambda: behind.directory.is_current)
        parts.push_async_callback(server.stop, STOP_S_MAX)
        announcer = Announcer(
            behind.redis,
            announce.Worker(Slug(library.slug), address, tuple(library.rulesets), library.description),
        )
        await announcer.start()
        parts.push_async_callback(announcer.stop)
        await behind.directory.refresh()  # so that the first match to start finds its title announced
        log.info("service_started", title=library.slug, address=address)
        await stop.wait()
        await announcer.drain()
        await worker.servicer.exchange.drain(DRAIN_S_MAX)


if __name__ == "__main__":
    run("rules", main, RulesSettings)
