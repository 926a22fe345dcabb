"""`python -m services.projection.ask_rebuild`: a rebuild by the projection of this container."""

import asyncio
import sys
from collections.abc import Collection
from typing import Annotated, Protocol

from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub
from msgspec import Meta, Struct
from waystation.projection.v1 import projection_pb2 as pb
from waystation.projection.v1.projection_pb2_grpc import ProjectionServiceStub

from services.core.errors import OUTAGES, Deadline, DomainError, ServiceDown
from services.kit.channels import Channels
from services.kit.exit_codes import INTERRUPTED, MISUSED
from services.kit.settings import SettingInvalid, Settings, from_environment
from services.kit.tasks import ended

WAIT_S_MAX = 24 * 3600.0
ANSWER_S_MAX = 2.0  # for a projection to say that it is there; one that folds a crowd may take a moment
LOOK_S = 1.0  # how often the projection is asked whether it waits for somebody


class AskSettings(Settings, frozen=True, kw_only=True):
    """`port`: where the projection of this container listens."""

    port: Annotated[int, Meta(ge=1, le=65535)]


class Projections(Protocol):
    """Who may be asked; a Directory is one."""

    def service(self, name: str, key: str = "", avoid: Collection[str] = ()) -> str:
        """An address that is not among `avoid`. Raises ServiceDown."""


class One(Struct, frozen=True):
    """The only projection there is to ask."""

    address: str

    def service(self, name: str, key: str = "", avoid: Collection[str] = ()) -> str:
        if self.address in avoid:
            raise ServiceDown(name, "nobody else is to be asked")
        return self.address


async def ask_rebuild(projections: Projections) -> int:
    """Has one that answers rebuild, and waits for the end; prints how it went.

    0 if every stream was folded, 1 if damaged ones were left out or nothing was rebuilt, 130 after Ctrl-C.
    """
    channels = Channels()
    try:
        done = await _rebuilt(await _answering(projections, channels), channels)
    except DomainError as error:
        print(f"not rebuilt: {error}")
        return 1
    except asyncio.CancelledError:  # the projection hears of it as well
        print("not rebuilt: interrupted; the projection gives up, and the lists stay as they were")
        return INTERRUPTED
    finally:
        await channels.close()
    return _told(done)


async def _answering(projections: Projections, channels: Channels) -> str:
    """The first that answers; prints who does not. Raises ServiceDown if nobody does.

    One that has died is listed for some seconds more, and a rebuild has no deadline that would show it.
    """
    silent: list[str] = []
    while True:
        address = projections.service("projection", avoid=silent)
        health = channels.stub(HealthStub, address)
        try:
            await channels.call(health.Check, HealthCheckRequest(), ANSWER_S_MAX, "projection")
        except (ServiceDown, Deadline):
            print(f"projection at {address} does not answer", flush=True)
            silent.append(address)
        else:
            return address


async def _rebuilt(address: str, channels: Channels) -> pb.RebuildResponse:
    """The end of a rebuild, which may take hours; prints meanwhile whom it waits for. Raises DomainError."""
    stub = channels.stub(ProjectionServiceStub, address)
    watching = asyncio.create_task(_tell_waits(address, channels))
    try:
        return await channels.call(stub.Rebuild, pb.RebuildRequest(), WAIT_S_MAX, f"projection at {address}")
    finally:
        await ended(watching)


async def _tell_waits(address: str, channels: Channels) -> None:
    stub = channels.stub(ProjectionServiceStub, address)
    told: list[str] = []
    while True:
        await asyncio.sleep(LOOK_S)
        try:
            asked = await channels.call(stub.GetRebuild, pb.GetRebuildRequest(), ANSWER_S_MAX)
        except OUTAGES:
            continue  # how the rebuild itself ends is told by its own call
        except DomainError:
            return  # a projection of a release before this one
        if (waits_for := list(asked.waits_for)) != told:
            print(f"waiting for {', '.join(waits_for)}" if waits_for else "going on", flush=True)
            told = waits_for


def _told(done: pb.RebuildResponse) -> int:
    print(f"rebuilt: {done.events} events of {done.streams} streams")
    for damage in done.damages:
        print(f"left out: {damage.stream} is damaged at version {damage.version}: {damage.detail}")
    if (unnamed := done.damaged_streams - len(done.damages)) > 0:
        print(f"left out: {unnamed} more damaged streams, which the projection's log names")
    return 1 if done.damaged_streams else 0


def main() -> int:
    """Asks the projection at PORT of this machine; 2 if that is no port."""
    try:
        settings = from_environment(AskSettings)
    except SettingInvalid as error:
        print(f"not rebuilt: {error}", file=sys.stderr)
        return MISUSED
    return asyncio.run(ask_rebuild(One(f"127.0.0.1:{settings.port}")))


if __name__ == "__main__":
    sys.exit(main())
