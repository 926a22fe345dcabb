"""A match served by a whole worker, and all that one of its viewers can get out of it."""

import json
from random import Random
from typing import NamedTuple

from structlog.testing import capture_logs
from waystation.events.v1.events_pb2 import PublishedEvent
from waystation.rules.v1 import rules_pb2 as pb

from services.core.errors import DomainError
from services.core.events import Event, genesis, seal
from services.core.ids import match_stream, table_stream
from services.core.match import Match
from services.kit.memory_store import MemoryStore
from services.kit.statuses import facts_text
from services.kit.store import LOBBY, Append
from services.rules import live
from services.rules.library import Library
from services.rules.published import published
from tests.rules.hosting import Host
from tests.titles.secrecy import STRANGER, Told, masked
from tests.titles.secrecy_cases import Case, Viewer
from tests.titles.secrecy_lines import MATCH, PLAYERS, T0, Line, Played

PAGE = 7
PAGES_MAX = 5


class Heard(NamedTuple):
    """What comes of a move. `events` tell of the move itself, `views` of the position after it."""

    events: Told
    views: Told


class Served:
    """A worker on a store that holds one match."""

    def __init__(self, case: Case, store: MemoryStore) -> None:
        self._host = Host(Library({case.title.rules_version: case.title}, "How to play."), store)
        self.servicer = self._host.servicer

    async def match(self) -> Match:
        return await self._host.now(MATCH)

    async def told(self, viewer: Viewer) -> Told:
        """Every answer to the viewer's reads: the match at all versions, its events, the legal moves."""
        player = STRANGER if viewer is None else PLAYERS[viewer]
        reader = pb.Reader(player=player)
        found = {}
        for version in range(1, (await self.match()).version + 1):
            request = pb.GetMatchRequest(match=MATCH, reader=reader, version=version)
            found[f"match at {version}"] = masked((await self.servicer.GetMatch(request)).view, "commitment")
        return found | await self._events(reader) | await self._moves(reader) | await self._published()

    async def _events(self, reader: pb.Reader) -> Told:
        events = (await self.servicer.ListEvents(pb.ListEventsRequest(match=MATCH, reader=reader))).page
        listed = [
            masked(json.dumps(each).encode(), "data", "commitment") for each in json.loads(events)["events"]
        ]
        return {f"event {version}": event for version, event in enumerate(listed, 1)}

    async def _moves(self, reader: pb.Reader) -> Told:
        found: Told = {}
        token = ""
        while token is not None and len(found) < PAGES_MAX:
            request = pb.ListLegalMovesRequest(match=MATCH, reader=reader, page_size=PAGE, page_token=token)
            page = (await self.servicer.ListLegalMoves(request)).page
            found[f"legal moves from {token or 0}"] = page
            token = json.loads(page)["next"]
        return found

    async def _published(self) -> Told:
        """What read models get told again; everybody may know it."""
        request = pb.ListPublishedEventsRequest(match=MATCH)
        events = (await self.servicer.ListPublishedEvents(request)).events
        return {f"published event {event.version}": as_published(event) for event in events}

    async def answer(self, viewer: Viewer, move: bytes) -> Told:
        """What the viewer gets for a move that is refused, and what the log says of it."""
        player = STRANGER if viewer is None else PLAYERS[viewer]
        request = pb.SubmitCommandRequest(
            match=MATCH, player=player, request_id="try", submit_move=pb.SubmitMove(move=move)
        )
        with capture_logs() as logs:
            try:
                await self.servicer.SubmitCommand(request)
            except DomainError as error:
                refusal = f"{error.reason} {facts_text(error)} {error}"
            else:
                raise AssertionError(f"{move!r} was accepted")
        return {f"refusal of {move!r}": refusal.encode(), f"log about {move!r}": f"{logs}".encode()}

    async def plays(self, played: Played, viewer: Viewer) -> Heard:
        """A move by anybody, and what the viewer and the read models hear of it."""
        move = (await self.match()).ruleset.write(played.move)
        request = pb.SubmitCommandRequest(
            match=MATCH,
            player=PLAYERS[played.seat],
            request_id="move",
            submit_move=pb.SubmitMove(move=bytes(move)),
        )
        with capture_logs() as logs:
            receipt = (await self.servicer.SubmitCommand(request)).receipt
        (news,) = self._host.told
        push = json.loads(live.push_for(news, viewer))
        event, view = (json.dumps(push.pop(part)).encode() for part in ("event", "view"))
        events = {"event": event, "push": f"{push}".encode(), "published": as_published(published(news))}
        views = {"view": masked(view, "commitment")}
        if played.seat == viewer:
            views["receipt"] = masked(masked(receipt, "head"), "view", "commitment")
        return Heard(events | {"log": f"{logs}".encode()}, views)


def as_published(event: PublishedEvent) -> bytes:
    """The message without the hashes before and after the event."""
    assert len(event.hash) == len(event.previous_hash) == 32
    shown = masked(event.event, "data", "commitment")
    return f"{event.stream} {event.version} {event.title} {event.traceparent} {shown!r}".encode()


async def served(case: Case, line: Line) -> Served:
    """The match of `line`, as a worker finds it in its store."""
    store = MemoryStore()
    table = table_stream(MATCH)
    created = Event(type="table_created", version=1, at=T0, by="ann", data=b"{}")
    await _append(store, line, table, seal(created, genesis(table)), b"", LOBBY)
    stream = match_stream(MATCH)
    head = genesis(stream)
    for decision in line.decisions:
        await _append(store, line, stream, decision.entry, head, case.title.slug)
        head = decision.entry.hash
    return Served(case, store)


async def _append(store, line, stream, entry, head, owner) -> None:
    await store.append(
        Append(
            stream=stream,
            entry=entry,
            expected_version=entry.version - 1,
            expected_hash=head,
            owner=owner,
            at=T0,
            seed=line.seed,
        )
    )


def common_move(one: Match, other: Match, rng: Random) -> Played | None:
    """A move that is next in both matches, if there is one."""
    seat = min(one.to_act)
    title = one.ruleset.title
    there = set(title.legal_moves(other.state, seat))
    both = [move for move in title.legal_moves(one.state, seat) if move in there]
    return Played(seat, rng.choice(both)) if both else None
