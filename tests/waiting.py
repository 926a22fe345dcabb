"""Waiting for what comes about by itself: for the fact, never for a time in which it might have."""

import asyncio
import inspect
import time
from collections.abc import Callable

PATIENCE_S = 60.0
PAUSE_S = 0.02


def wait_until(
    holds: Callable[[], object], what: str = "it never came about", within_s: float = PATIENCE_S
) -> float:
    """The seconds it took until `holds()`. Raises AssertionError after `within_s`."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() < began + within_s, f"not within {within_s:.0f} s: {what}"
        time.sleep(PAUSE_S)
    return time.monotonic() - began


async def until(
    holds: Callable[[], object], what: str = "it never came about", within_s: float = PATIENCE_S
) -> None:
    """The same while the event loop goes on. `holds` may be asynchronous."""
    give_up = time.monotonic() + within_s
    while not await _held(holds):
        assert time.monotonic() < give_up, f"not within {within_s:.0f} s: {what}"
        await asyncio.sleep(PAUSE_S)


async def _held(holds: Callable[[], object]) -> object:
    found = holds()
    return await found if inspect.isawaitable(found) else found
