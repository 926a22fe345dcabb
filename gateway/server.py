"""uvicorn, run inside our own life cycle: we bind the port, we heed the signals, we say when to stop."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import structlog
import uvicorn
from litestar.types import ASGIApp

from gateway.http import HttpProtocol
from gateway.parts import Parts
from gateway.websocket import WebSocketProtocol
from services.kit.process import StartFailed

log = structlog.get_logger()

BACKLOG = 2048
FRAME_BYTES_MAX = 64 * 1024
# Longer than load balancers keep an idle connection, so that they close it and we never do.
KEEP_ALIVE_S = 75
STOP_S_MAX = 3
# A peer that has stopped reading, or has vanished, is cut off when what was sent stays unread so long.
UNREAD_MS_MAX = 30_000


class Server(uvicorn.Server):
    """Leaves the signals alone, and says where it listens once it does."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            log.info("service_started", address=f"{host}:{port}")


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A bound socket; port 0 takes a free one. Raises StartFailed for a port that is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # inherited by every connection
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS_MAX)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise StartFailed(f"cannot listen on {host}:{port}: {error.strerror}") from error
        yield listener


async def serve(app: ASGIApp, listener: socket.socket, parts: Parts, stop: asyncio.Event) -> None:
    """Serves until `stop`, then finishes what is open within STOP_S_MAX."""
    config = uvicorn.Config(
        app,
        loop="none",
        http=HttpProtocol,
        ws=WebSocketProtocol,
        ws_max_size=FRAME_BYTES_MAX,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # addresses are read by gateway.addresses, by our own list of proxies
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_S_MAX,
        backlog=BACKLOG,
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    parts.readiness.is_stopping = True
    await parts.sockets.say_bye("the gateway stops", STOP_S_MAX)
    server.should_exit = True
    await serving
