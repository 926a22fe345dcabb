"""`python -m gateway`: serves HTTP and WebSocket on HOST:PORT until SIGTERM."""

import asyncio
import gc

from gateway import parts
from gateway.app import build
from gateway.server import listening, serve
from gateway.settings import GatewaySettings
from services.kit.process import run


async def main(settings: GatewaySettings, stop: asyncio.Event) -> None:
    with listening(settings.host, settings.port) as listener:
        async with parts.opened(settings) as opened:
            # What is there now stays; most of what comes is freed without the collector's help.
            gc.freeze()
            gc.set_threshold(20_000, 20, 50)
            await serve(build(opened), listener, opened, stop)


if __name__ == "__main__":
    run("gateway", main, GatewaySettings)
