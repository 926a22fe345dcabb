"""`python -m services.projection.ask_rebuild`: a rebuild by the projection of this container."""

import asyncio
import os
import sys

from waystation.projection.v1 import projection_pb2 as pb
from waystation.projection.v1.projection_pb2_grpc import ProjectionServiceStub

from services.core.errors import DomainError
from services.kit.channels import Channels

WAIT_S_MAX = 24 * 3600.0


async def ask_rebuild(address: str) -> int:
    """Waits for the end of a rebuild, and prints one line; 0 if the read models were rebuilt, else 1."""
    channels = Channels()
    try:
        stub = channels.stub(ProjectionServiceStub, address)
        done = await channels.call(stub.Rebuild, pb.RebuildRequest(), WAIT_S_MAX, "projection")
    except DomainError as error:
        print(f"not rebuilt: {error}")
        return 1
    finally:
        await channels.close()
    print(f"rebuilt: {done.events} events of {done.streams} streams")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(ask_rebuild(f"127.0.0.1:{os.environ['PORT']}")))
