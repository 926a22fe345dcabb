"""One connection to NATS, made in the background and made again for ever: nobody waits for NATS to start."""

import asyncio
import contextlib
from urllib.parse import unquote, urlsplit

import nats.errors
import structlog

from services.kit.bus_client import BusClient
from services.kit.tasks import ended

log = structlog.get_logger()

# What nats-py raises when the server is away, silent, or says no.
BUS_ERRORS = (nats.errors.Error, OSError, TimeoutError)

RECONNECT_S = 1
CLOSE_S_MAX = 2.0
_CONNECT_S_MAX = 2
_PING_S = 5  # two unanswered pings end a connection that a dead peer has left open


def nats_servers(url: str) -> list[str]:
    """The servers that a NATS_URL names. Raises ValueError for one that cannot be used."""
    servers = [server.strip() for server in url.split(",")]
    for parts in map(urlsplit, servers):
        if parts.scheme not in ("nats", "tls") or not parts.hostname:
            raise ValueError("NATS_URL must look like nats://host:4222, or several of these with commas")
    return servers


def nats_login(url: str) -> tuple[str | None, str | None]:
    """User and password of a NATS_URL, of its first server: nats-py would not undo their percent-encoding.

    None for both where there is no password; nats-py takes a user alone for a token.
    """
    parts = urlsplit(nats_servers(url)[0])
    if parts.username is None or parts.password is None:
        return None, None
    return unquote(parts.username), unquote(parts.password)


class Bus:
    """Ask `connected` for the client each time: nats-py ends one after some refusals, and a new one comes."""

    def __init__(self, url: str, name: str, *, replicas: int = 1) -> None:
        """`url`: nats://[user:password@]host[:port], or tls://; of a cluster several, with commas.

        `name` shows in NATS's monitoring. `replicas`: how many servers are to keep the stream of events.
        """
        self._servers = nats_servers(url)
        self._user, self._password = nats_login(url)
        self._name = name
        self.replicas = replicas
        self._client: BusClient | None = None
        self._is_up = asyncio.Event()
        self._staying: asyncio.Task[None] | None = None

    @property
    def is_connected(self) -> bool:
        return self._is_up.is_set()

    def start(self) -> None:
        self._staying = asyncio.create_task(self._stay_connected())

    async def stop(self) -> None:
        """Sends what is buffered if NATS takes it soon, and ends the connection."""
        await ended(self._staying)
        if self._client is not None and not self._client.is_closed:
            with contextlib.suppress(*BUS_ERRORS):
                async with asyncio.timeout(CLOSE_S_MAX):
                    await self._client.close()
        self._is_up.clear()

    async def connected(self) -> BusClient:
        """The client, as soon as it has a connection."""
        await self._is_up.wait()
        assert self._client is not None
        return self._client

    async def _stay_connected(self) -> None:
        while True:
            over = asyncio.Event()
            self._client = BusClient()
            await self._connect(self._client, over)
            await self._found()
            await over.wait()
            await asyncio.sleep(RECONNECT_S)

    async def _connect(self, client: BusClient, over: asyncio.Event) -> None:
        """Returns with the first connection. Later ones come by themselves until `over` is set."""

        async def closed() -> None:
            self._is_up.clear()
            over.set()

        await client.connect(
            self._servers,
            user=self._user,
            password=self._password,
            name=self._name,
            connect_timeout=_CONNECT_S_MAX,
            reconnect_time_wait=RECONNECT_S,
            max_reconnect_attempts=-1,
            ping_interval=_PING_S,
            flush_timeout=_CONNECT_S_MAX,
            skip_subject_validation=True,  # ours are made of what was checked where it came in
            error_cb=_complained,
            disconnected_cb=self._lost,
            reconnected_cb=self._found,
            closed_cb=closed,
        )

    async def _found(self) -> None:
        self._is_up.set()
        log.info("nats_found")

    async def _lost(self) -> None:
        self._is_up.clear()
        log.warning("nats_lost")


async def _complained(error: Exception) -> None:
    """Takes what nats-py reports: failed connections, slow subscriptions. Both heal by themselves."""
    log.debug("nats_complained", detail=str(error))
