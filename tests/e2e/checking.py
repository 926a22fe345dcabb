"""The checks after a run: what clients were told, against what the streams hold."""

import asyncio
import json
import random
from collections import Counter, defaultdict
from typing import Any

import msgspec

from cli.titles import ruleset_for
from services.core.events import bytes_of
from services.core.ids import MatchId, PlayerId, match_stream
from services.core.record import read_record, verify
from services.core.replay import Step, replayed
from services.core.shown import show_match
from services.kit.store import EventStore
from tests.e2e.playing import History
from tests.e2e.site import Player, Site


async def folded(store: EventStore, match: str) -> list[Step]:
    """Every version of a match, from its stream alone; proves chain, digests and contiguity on the way."""
    seed = await store.seed(MatchId(match))
    assert seed is not None
    entries = await store.read(match_stream(MatchId(match)))
    assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
    return list(replayed(MatchId(match), seed, entries, ruleset_for))


def plain(view: Any) -> Any:
    """A view as JSON says it."""
    return json.loads(msgspec.json.encode(view))


async def check_history(store: EventStore, history: History, matches: list[str]) -> int:
    """Every receipt is in the stream once, at its version, under its head; every view is the fold's.

    Returns the number of receipts checked.
    """
    receipts = defaultdict(list)
    for receipt in history.acknowledged:
        receipts[receipt.match].append(receipt)
    seen = defaultdict(list)
    for view in history.seen:
        seen[view.match].append(view)
    for match in matches:
        steps = await folded(store, match)
        requests = Counter(event.request_id for event, _ in steps if event.request_id)
        for receipt in receipts[match]:
            event, at = steps[receipt.version - 1]
            assert requests[receipt.request_id] == 1
            assert event.request_id == receipt.request_id
            assert at.head == bytes_of(receipt.head)
        shown: dict[tuple[int, str], Any] = {}
        for view in seen[match]:
            at = steps[view.version - 1].match
            key = (view.version, view.player)
            if key not in shown:
                shown[key] = plain(show_match(at, at.seat_of(PlayerId(view.player))))
            assert view.view == shown[key], f"{match} at {view.version}"
    return len(history.acknowledged)


async def check_versions(store: EventStore, player: Player, match: str, rng: random.Random) -> None:
    """The API's view at sampled versions is the fold's, and at the end the last one's."""
    steps = await folded(store, match)
    for step in {0, len(steps) - 1, *(rng.randrange(len(steps)) for _ in range(4))}:
        at = steps[step].match
        assert await player.view(match, at.version) == plain(show_match(at, at.seat_of(PlayerId(player.id))))
    assert await player.view(match) == plain(
        show_match(steps[-1].match, steps[-1].match.seat_of(PlayerId(player.id)))
    )


async def check_record(player: Player, match: str, steps: int) -> None:
    """The record of a finished match proves itself without any server."""
    record = await player.ask("GET", f"/v1/matches/{match}/record")
    assert len(verify(read_record(json.dumps(record).encode()), ruleset_for)) == steps


async def check_lists(store: EventStore, site: Site, matches: list[str]) -> None:
    """The projection's lists agree with the streams, once it has caught up."""
    for _ in range(200):
        listed = await _listed(site)
        if all(listed.get(match, {}).get("status") == "over" for match in matches):
            break
        await asyncio.sleep(0.1)
    for match in matches:
        last = (await folded(store, match))[-1].match
        assert listed[match]["version"] == last.version
        assert listed[match]["outcome"] == plain(last.outcome)
        players = [seat["player"] for seat in listed[match]["seats"]]
        assert players == [seat.player for seat in last.started.seats]


async def _listed(site: Site) -> dict[str, Any]:
    found: dict[str, Any] = {}
    token = ""
    while True:
        page = await site.ask("GET", "/v1/matches", status="over", page_size=100, page_token=token)
        found.update({summary["match"]: summary for summary in page["matches"]})
        token = page["next"]
        if not token:
            return found
