"""One connection to Redis, shared by all of a process: what is asked within one trip travels together.

Group commit: commands that come in during one loop turn, or while a trip is under way, go out as the
next trip. There is no connection until somebody asks, and after a failure the next question makes a new one.
"""

import asyncio
import ssl
from collections import deque

from services.core.errors import Overloaded, StoreUnavailable
from services.kit.redis_place import redis_place
from services.kit.redis_resp import Part, Reply, command, settled
from services.kit.redis_wire import Parcel, RedisWire, Witness

TRIP_S_MAX = 2.0
TRIP_COMMANDS_MAX = 256  # keeps one trip, and so the wait of the next, short
WAITING_MAX = 8192
_RECONNECT_S_MIN = 0.05
_LINKED = "link:made"  # a key that a new connection writes if it is to wait for replicas


class RedisLink:
    """Every question may raise StoreUnavailable (nobody answers, or the outcome is unknown) or Overloaded."""

    def __init__(
        self, url: str, *, replicas: int = 0, trip_s_max: float = TRIP_S_MAX, waiting_max: int = WAITING_MAX
    ) -> None:
        """`url`: see `redis_place`. `replicas`: how many must have what a trip wrote before anybody hears."""
        self._place = redis_place(url)
        self._replicas = replicas
        self._trip_s_max = trip_s_max
        self._waiting_max = waiting_max
        self._waiting: deque[Parcel] = deque()
        self._commands_waiting = 0
        self._wire: RedisWire | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._departure: asyncio.Handle | None = None
        self._overdue: asyncio.TimerHandle | None = None
        self._closed = False

    async def call(self, *parts: Part) -> Reply:
        """The reply to one command. Raises StoreUnavailable for an error reply too."""
        return settled((await self.ask(command(*parts)))[0])

    def ask(self, payload: bytes, commands: int = 1) -> asyncio.Future[list[Reply]]:
        """The replies to `payload`, which holds that many commands; error replies are among them."""
        if self._commands_waiting + commands > self._waiting_max:
            raise Overloaded("the store's queue", self._waiting_max, retry_after_s=1)
        if self._closed:
            raise StoreUnavailable("the service is closing")
        future: asyncio.Future[list[Reply]] = asyncio.get_running_loop().create_future()
        self._waiting.append(Parcel(payload, commands, future))
        self._commands_waiting += commands
        if self._departure is None and self._overdue is None:
            self._departure = asyncio.get_running_loop().call_soon(self._depart)
        return future

    async def close(self) -> None:
        """Ends the connection; whoever still waits gets StoreUnavailable."""
        self._closed = True
        if self._connecting:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        if self._wire:
            self._wire.abort()
        self._fail_waiting("the service is closing")
        await asyncio.sleep(0)

    def _depart(self) -> None:
        """Sends off what waits; first of all a connection is made if there is none."""
        self._departure = None
        if self._overdue:  # a trip is under way; its end starts the next
            return
        if self._wire is None:
            if self._connecting is None:
                self._connecting = asyncio.get_running_loop().create_task(self._connect())
            return
        parcels: list[Parcel] = []
        commands = 0
        while self._waiting and (not parcels or commands + self._waiting[0].commands <= TRIP_COMMANDS_MAX):
            parcel = self._waiting.popleft()
            self._commands_waiting -= parcel.commands
            if not parcel.future.done():  # else its caller has gone
                parcels.append(parcel)
                commands += parcel.commands
        if parcels:
            self._overdue = asyncio.get_running_loop().call_later(self._trip_s_max, self._wire.abort)
            self._wire.send([*parcels, Witness(parcels, self._replicas)] if self._replicas else parcels)

    def _arrived(self) -> None:
        if self._overdue:
            self._overdue.cancel()
            self._overdue = None
        if self._wire and self._wire.is_stale:  # the next question finds out who is primary now
            self._wire.abort()
            self._wire = None
        if self._waiting:
            self._depart()

    def _lost(self, wire: RedisWire) -> None:
        if wire is self._wire:
            self._wire = None
            self._arrived()

    def _fail_waiting(self, detail: str) -> None:
        while self._waiting:
            self._waiting.popleft().fail(StoreUnavailable(detail))
        self._commands_waiting = 0

    async def _connect(self) -> None:
        """Makes the connection that `_waiting` waits for, or fails all of it."""
        try:
            async with asyncio.timeout(self._trip_s_max):
                self._wire = await self._opened()
        except (OSError, ValueError, StoreUnavailable) as error:
            self._fail_waiting(_reason(error))
            await asyncio.sleep(_RECONNECT_S_MIN)
        finally:
            self._connecting = None
        self._arrived()

    async def _opened(self) -> RedisWire:
        """A connection that answers. Raises OSError or StoreUnavailable."""
        host, port = await self._place.primary()
        _, wire = await asyncio.get_running_loop().create_connection(
            lambda: RedisWire(self._arrived, self._lost),
            host,
            port,
            ssl=ssl.create_default_context() if self._place.is_tls else None,
        )
        try:
            await self._greet(wire)
            if wire.is_lost:
                raise StoreUnavailable("the connection was lost at once")
        except BaseException:
            wire.abort()
            raise
        return wire

    async def _greet(self, wire: RedisWire) -> None:
        """Says who we are and which database is meant, and hears who that is. Raises StoreUnavailable."""
        greetings: list[bytes] = []
        if self._place.password:
            greetings.append(command("AUTH", self._place.user, self._place.password))
        if self._place.database:
            greetings.append(command("SELECT", self._place.database))
        if self._replicas:  # WAIT speaks of what came before the connection's own last write
            greetings.append(command("SET", _LINKED, 1))
        greetings.append(command("ROLE") if self._place.primary_name else command("PING"))
        future: asyncio.Future[list[Reply]] = asyncio.get_running_loop().create_future()
        wire.send([Parcel(b"".join(greetings), len(greetings), future)])
        replies = [settled(reply) for reply in await future]
        if self._place.primary_name and _role(replies[-1]) != b"master":
            raise StoreUnavailable(f"{self._place.primary_name}: no longer the primary")


def _role(reply: Reply) -> Reply:
    return reply[0] if isinstance(reply, list) and reply else None


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no connection in time"
    return error.detail if isinstance(error, StoreUnavailable) else str(error)
