"""`python -m gateway`: serves HTTP and WebSocket on HOST:PORT until SIGTERM."""

import asyncio

from gateway import parts
from gateway.app import build
from gateway.server import listening, serve
from gateway.settings import GatewaySettings
from services.kit.process import run


async def main(settings: GatewaySettings, stop: asyncio.Event) -> None:
    with listening(settings.host, settings.port) as listener:
        async with parts.opened(settings) as opened:
            await serve(build(opened), listener, opened, stop)


if __name__ == "__main__":
    run("gateway", main, GatewaySettings)
