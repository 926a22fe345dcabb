"""`waystation replay`: a match version by version, from its stream alone."""

import asyncio
from pathlib import Path

import msgspec

from cli.store_url import store_url
from cli.titles import ruleset_for
from services.core.errors import DomainError
from services.core.ids import MatchId, match_stream
from services.core.match_events import MoveMade
from services.core.replay import Step, replayed
from services.kit.redis_place import redis_place
from services.kit.redis_store import RedisStore


async def print_replay(match: str, *, version: int | None, seat: int | None, data: Path | None) -> int:
    """Prints every version (or one); 0 if the whole stream holds, 1 with the first fault otherwise."""
    with store_url(data) as url:
        try:
            store = RedisStore.reading(url)
            try:
                entries = await store.read(match_stream(MatchId(match)))
                seed = await store.seed(MatchId(match))
            finally:
                await store.close()
            if not entries or seed is None:
                print(f"no match {match} in {redis_place(url).shown}")
                return 1
            if version is not None and not 1 <= version <= len(entries):
                print(f"no version {version}: {match} has 1 to {len(entries)}")
                return 1
            for step in replayed(MatchId(match), seed, entries, ruleset_for):
                seats = len(step.match.started.seats)
                if seat is not None and not 0 <= seat < seats:
                    print(f"no seat {seat}: {match} has 0 to {seats - 1}")
                    return 1
                if version in (None, step.match.version):
                    print(_shown(step, seat))
                await asyncio.sleep(0)  # where Ctrl-C gets a word in
        except DomainError as error:
            print(f"FALSE  {error}")
            return 1
    print(f"TRUE   {len(entries)} versions: hash chain, digests and luck hold")
    return 0


def _shown(step: Step, seat: int | None) -> str:
    event, match = step
    title = match.ruleset.title
    move = ""
    if event.type == "move_made":
        made = msgspec.json.decode(event.data, type=MoveMade)
        move = " " + title.notation(match.ruleset.read_move(made.move))
    heading = f"-- version {match.version}: {event.type} by {event.by}{move}  digest {event.digest}"
    return f"{heading}\n{title.render(title.view(match.state, seat))}\n"
