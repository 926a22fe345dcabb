"""Waiting for owners of streams who are away: one that is rolled or restarted must not end a rebuild."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from services.core.errors import OUTAGES, DomainError, NoSuchTitle, ServiceDown

log = structlog.get_logger()

T = TypeVar("T")

AWAY_S_MAX = 120.0  # longer than a process takes to be replaced
PAUSE_S_MIN, PAUSE_S_MAX = 0.25, 5.0  # doubled with every try

# A title that nobody knows: its first worker may be about to come.
_AWAY = (*OUTAGES, NoSuchTitle)


class Waits:
    """Asks those who are away again until they are back, and knows who is waited for."""

    def __init__(self) -> None:
        self._waiting: dict[object, str] = {}

    @property
    def waits_for(self) -> list[str]:
        """Who is away at this moment, each once."""
        return sorted(set(self._waiting.values()))

    async def answered(
        self, owner: str, ask: Callable[[], Awaitable[T]], meanwhile: Callable[[], Awaitable[None]]
    ) -> T:
        """What `ask` returns; before it is asked again there is `meanwhile`.

        Raises ServiceDown when the owner was away for AWAY_S_MAX, and what `meanwhile` raises.
        """
        this, pause_s = object(), PAUSE_S_MIN
        give_up = time.monotonic() + AWAY_S_MAX
        try:
            while True:
                try:
                    return await ask()
                except _AWAY as error:
                    if time.monotonic() >= give_up:
                        raise ServiceDown(owner, f"waited {AWAY_S_MAX:g} s in vain: {error}") from error
                    self._tell(owner, error)
                    self._waiting[this] = owner
                await asyncio.sleep(pause_s)
                await meanwhile()
                pause_s = min(2 * pause_s, PAUSE_S_MAX)
        finally:
            self._waiting.pop(this, None)

    def _tell(self, owner: str, error: DomainError) -> None:
        """Once, however many wait for the same."""
        if owner not in self._waiting.values():
            log.warning("owner_awaited", owner=owner, detail=str(error))
