"""Workers in this process: a title on a store, what it told the world, and players that know no rules."""

import random
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from services.core.clock import Clock
from services.core.commands import AnyCommand, Issued, SubmitMove
from services.core.events import Entry, Event, genesis, seal
from services.core.ids import MatchId, PlayerId, match_stream, table_stream
from services.core.match import Match
from services.core.match_events import Sitting
from services.core.replay import fold
from services.kit.cache import Room
from services.kit.moment import now_ms
from services.kit.store import LOBBY, Append, EventStore
from services.rules.archive import Archive
from services.rules.desk import Accepted, Desk
from services.rules.flags import Flags
from services.rules.ledger import Ledger
from services.rules.library import Library
from services.rules.live import Live
from services.rules.news import News
from services.rules.published import Published
from services.rules.reads import Reader, Reads
from services.rules.servicer import Servicer
from services.rules.shelf import Shelf
from services.rules.start import Sealed, Starter
from tests.toy.titles.high_card import VERSIONS as TOY

SEED = bytes(range(32))
PLAYERS = tuple(PlayerId(name) for name in ("ann", "bob", "cara", "dan", "eve", "finn"))
ANN, BOB, CARA = PLAYERS[:3]
STRANGER = PlayerId("stranger")

TOY_LIBRARY = Library(TOY, "How to play High Card.")


class Host:
    """One worker. `told`: the news it published. `newest`: the rules version that matches begin with."""

    def __init__(
        self, library: Library, store: EventStore, room: int = 100, newest: int | None = None
    ) -> None:
        self.told: list[News] = []
        self.library = library
        self.store = store
        self.shelf = Shelf(Room(values=room, bytes=1 << 30))
        self.archive = Archive(library, store, self.shelf)
        ledger = Ledger(library.slug, store, self.shelf, self.told.append)
        self.starter = Starter(self.archive, store, ledger, lambda: newest or library.newest)
        self.desk = Desk(self.archive, ledger)
        self.reads = Reads(self.archive)
        self.published = Published(self.archive)
        self.flags = Flags(library.slug, self.archive, self.desk, store)
        self.servicer = Servicer(library, self.starter, self.desk, self.reads, self.published, Live())

    async def does(
        self, match: MatchId, player: PlayerId | None, command: AnyCommand, request_id: str = "", at: int = 0
    ) -> Accepted:
        issued = Issued(player=player, at=at or now_ms(), request_id=request_id)
        return await self.desk.carry_out(match, command, issued)

    async def now(self, match: MatchId) -> Match:
        return await self.archive.now(match)

    async def moves(self, match: MatchId, rng: random.Random) -> Accepted | None:
        """A random legal move of a random seat that is to act; None when the match is over."""
        there = await self.now(match)
        if not there.to_act:
            return None
        seat = rng.choice(sorted(there.to_act))
        command = SubmitMove(move=any_move(there, seat, rng), expected_version=there.version)
        return await self.does(match, PLAYERS[seat], command)

    async def plays(self, match: MatchId, rng: random.Random, moves: int = 100_000) -> Match:
        """At most that many random moves."""
        for _ in range(moves):
            if await self.moves(match, rng) is None:
                break
        return await self.now(match)


def any_move(match: Match, seat: int, rng: random.Random) -> Raw:
    title = match.ruleset.title
    return match.ruleset.write(rng.choice(list(title.legal_moves(match.state, seat))))


async def started(
    host: Host,
    match: MatchId,
    seats: int = 2,
    *,
    options: bytes = b"{}",
    clock: Clock | None = None,
    private: bool = False,
    at: int = 0,
) -> MatchId:
    """Seats a table with the first PLAYERS and starts its match."""
    await sit_down(host.store, match)
    await host.starter.start(sealed(match, seats, options, clock, private, at))
    return match


def sealed(
    match: MatchId,
    seats: int = 2,
    options: bytes = b"{}",
    clock: Clock | None = None,
    private: bool = False,
    at: int = 0,
) -> Sealed:
    return Sealed(
        match=match,
        options=Raw(options),
        seats=tuple(Sitting(player, f"nonce of {player}") for player in PLAYERS[:seats]),
        private=private,
        clock=clock,
        at=at or now_ms(),
    )


async def sit_down(store: EventStore, match: MatchId) -> None:
    """What the lobby leaves behind that a worker needs: the table's first entry, and the seed beside it."""
    stream = table_stream(match)
    event = Event(type="table_created", version=1, at=now_ms(), by=ANN, data=Raw(b"{}"))
    entry = seal(event, genesis(stream))
    await store.append(
        Append(
            stream=stream,
            entry=entry,
            expected_version=0,
            expected_hash=b"",
            owner=LOBBY,
            at=event.at,
            seed=SEED,
        )
    )


async def entries_of(store: EventStore, match: MatchId) -> Sequence[Entry]:
    return await store.read(match_stream(match))


async def folded(host: Host, match: MatchId, until: int | None = None) -> Match:
    """The match from its stream, by the core alone."""
    entries = await host.store.read(match_stream(match), until=until)
    return fold(match, SEED, entries, host.library.ruleset_for)


def reader(player: PlayerId | None, admitted: bool = False) -> Reader:
    return Reader(player, admitted)


def events_in(entries: Sequence[Entry]) -> list[Event]:
    return [msgspec.json.decode(entry.body, type=Event) for entry in entries]
