"""All open live connections: how many there may be, and how they are told that the gateway stops."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol

from prometheus_client import Gauge

from gateway.limits import Held
from gateway.settings import GatewaySettings

OPEN = Gauge("live_connections", "Open WebSockets and event streams")


class Conversation(Protocol):
    """A live connection."""

    def say_bye(self, reason: str) -> None:
        """Tells the client where to resume, and ends soon after."""


class Sockets:
    """Counts by player, or by address where nobody says who they are."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._of_players = Held("live connections", settings.sockets_per_player, settings.sockets)
        self._of_addresses = Held("live connections", settings.sockets_per_address, settings.sockets)
        self._open: set[Conversation] = set()
        self._all_gone = asyncio.Event()
        self._all_gone.set()

    @contextmanager
    def one(self, conversation: Conversation, address: str) -> Iterator[None]:
        """Raises Overloaded when the address has too many, or all of them together are."""
        with self._of_addresses.one(address), OPEN.track_inprogress():
            self._open.add(conversation)
            self._all_gone.clear()
            try:
                yield
            finally:
                self._open.discard(conversation)
                if not self._open:
                    self._all_gone.set()

    def of_player(self, player: str) -> AbstractContextManager[None]:
        """Holds one more for `player`. Raises Overloaded when it is one too many."""
        return self._of_players.one(player)

    async def say_bye(self, reason: str, within_s: float) -> None:
        """Ends all of them; returns when they have ended, or after `within_s`."""
        for conversation in tuple(self._open):
            conversation.say_bye(reason)
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._all_gone.wait()
