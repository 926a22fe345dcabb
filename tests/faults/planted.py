"""A rules worker with a bug, for the checker to find: `PLANT=<name> python -m tests.faults.planted`."""

import asyncio
import os
import random
import runpy
from collections.abc import Callable, Mapping

from services.core.match import Match
from services.kit import redis_append, redis_library
from services.rules.ledger import Ledger
from services.rules.news import News

LATE_S = 0.15  # between an answer and the append that should have come before it


def acknowledge_before_append() -> None:
    """The receipt goes out first; what happens to the append afterwards is nobody's business."""
    append = Ledger.append
    running = set()

    async def late(self: Ledger, decision, previous):  # type: ignore[no-untyped-def]
        async def store() -> None:
            await asyncio.sleep(LATE_S)
            await append(self, decision, previous)

        task = asyncio.create_task(store())
        running.add(task)
        task.add_done_callback(running.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return News(decision.match, decision.event, decision.entry, previous)

    Ledger.append = late  # type: ignore[method-assign]


def no_version_check() -> None:
    """The store takes whatever comes, at the next free version; others keep the function they know."""
    source = redis_append.SOURCE
    checks = (
        b"  if found ~= tonumber(expected) then return found end\n",
        b"  if last and last[2][4] ~= expected_hash then return -1 end\n",
    )
    for check in checks:
        assert check in source
        source = source.replace(check, b"")
    source = source.replace(b"return found\nend", b"return tonumber(expected)\nend")
    source = source.replace(b"name=waystation", b"name=careless").replace(
        b"waystation_append_1", b"careless_1"
    )
    for module in (redis_append, redis_library):
        vars(module).update(SOURCE=source, LIBRARY="careless")
    redis_append._FUNCTION = "careless_1"


def no_dedupe() -> None:
    """A request id means nothing: a repetition is a new command."""
    Match.answered_at = lambda self, command, issued: None  # type: ignore[method-assign]


def publish_before_store() -> None:
    """Watchers hear of moves that may never be stored."""
    append = Ledger.append

    async def loud(self: Ledger, decision, previous):  # type: ignore[no-untyped-def]
        self._publish(News(decision.match, decision.event, decision.entry, previous))
        await asyncio.sleep(random.uniform(0, LATE_S))  # so that of two rivals the louder may be the loser
        return await append(self, decision, previous)

    Ledger.append = loud  # type: ignore[method-assign]


PLANTS: Mapping[str, Callable[[], None]] = {
    "acknowledge before append": acknowledge_before_append,
    "no version check": no_version_check,
    "no dedupe": no_dedupe,
    "publish before store": publish_before_store,
}

if __name__ == "__main__":
    PLANTS[os.environ["PLANT"]]()
    runpy.run_module("services.rules", run_name="__main__")
