"""No byte of any kind of entry can change unseen: each is flipped in turn, and named with its version."""

import random
from collections.abc import Callable, Iterable, Sequence

import msgspec
import pytest
from msgspec import Raw

from cli.titles import ruleset_for
from services.core import match_events, tables
from services.core.clock import GRACE_MS, PerTurn
from services.core.commands import (
    Abort,
    AnswerDraw,
    AnswerTakeback,
    AnyCommand,
    FlagClock,
    Issued,
    OfferDraw,
    RequestTakeback,
    Resign,
    SubmitMove,
)
from services.core.decide import Decision, decide
from services.core.errors import HistoryCorrupt
from services.core.events import Entry, Event, genesis, seal
from services.core.ids import MatchId, PlayerId, table_stream
from services.core.match import Match
from services.core.match_events import Sitting
from services.core.replay import fold
from services.core.start import start

MATCH = MatchId("m")
SEED = bytes(range(32))
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TURN_MS = 60_000

Fold = Callable[[Sequence[Entry]], object]


class Teller:
    """Tells a match of wayfare, whose players may take moves back, with every field of an entry in use."""

    def __init__(self) -> None:
        rules = ruleset_for("wayfare", 1)
        seats = (Sitting("p0", "nonce"), Sitting("p1", "another"))
        clock = PerTurn(turn_ms=TURN_MS)
        begun = start(
            MATCH,
            rules,
            SEED,
            options=Raw(b"{}"),
            seats=seats,
            private=False,
            clock=clock,
            at=1,
            traceparent=TRACE,
        )
        self.match: Match = begun.match
        self.entries = [begun.entry]

    def does(self, seat: int | None, command: AnyCommand, at: int = 2) -> "Teller":
        player = None if seat is None else PlayerId(f"p{seat}")
        issued = Issued(player=player, at=at, request_id=f"request-{len(self.entries)}", traceparent=TRACE)
        decided = decide(self.match, command, issued)
        assert isinstance(decided, Decision)
        self.match = decided.match
        self.entries.append(decided.entry)
        return self

    def moves(self) -> "Teller":
        (seat,) = self.match.to_act
        move = next(iter(self.match.ruleset.title.legal_moves(self.match.state, seat)))
        return self.does(seat, SubmitMove(move=self.match.ruleset.write(move)))

    def talks(self, command: AnyCommand, answer: Callable[[int], AnyCommand]) -> "Teller":
        """Seat 0 asks, seat 1 answers the version at which it did."""
        self.does(0, command)
        return self.does(1, answer(self.match.version))


def matches() -> Iterable[list[Entry]]:
    """Together they hold every kind of event."""
    told = Teller().moves().talks(OfferDraw(), lambda offer: AnswerDraw(offer=offer, accept=False))
    told.talks(RequestTakeback(), lambda asked: AnswerTakeback(request=asked, accept=False))
    told.talks(RequestTakeback(), lambda asked: AnswerTakeback(request=asked, accept=True))
    yield told.talks(OfferDraw(), lambda offer: AnswerDraw(offer=offer, accept=True)).entries
    yield Teller().moves().does(1, Resign()).entries
    yield Teller().does(None, FlagClock(), at=1 + TURN_MS + GRACE_MS + 1).entries
    yield Teller().does(None, Abort(note="the hall is closed")).entries


def table(*facts: tables.TableFact) -> list[Entry]:
    previous, entries = genesis(table_stream(MATCH)), []
    for version, fact in enumerate(facts, 1):
        event = Event(
            type=tables.NAMES[type(fact)],
            version=version,
            at=version,
            by=f"p{version}",
            request_id=f"request-{version}",
            fingerprint="AAAAAAAAAAA",
            data=Raw(msgspec.json.encode(fact)),
            traceparent=TRACE,
        )
        entries.append(seal(event, previous))
        previous = entries[-1].hash
    return entries


def tables_told() -> Iterable[list[Entry]]:
    """Together they hold every kind of event."""
    created = tables.TableCreated(
        title="wayfare", options=Raw(b"{}"), seats=2, seats_min=2, commitment="c", invite="i", nonce="n"
    )
    taken, left = tables.SeatTaken(seat=1, nonce="m"), tables.SeatLeft(seat=1)
    sealed = tables.TableSealed(seats=(Sitting("p1", "n"), Sitting("p4", "m")))
    yield table(created, taken, left, taken, sealed)
    yield table(created, tables.TableClosed(note="nobody came"))


def fold_match(entries: Sequence[Entry]) -> object:
    return fold(MATCH, SEED, entries, ruleset_for)


def fold_table(entries: Sequence[Entry]) -> object:
    folded: tables.Table | None = None
    for entry in entries:
        folded = tables.extended(MATCH, folded, entry)
    return folded


def flips(raw: bytes, rng: random.Random) -> Iterable[bytes]:
    """`raw` with one bit of each of its bytes flipped in turn."""
    for at in range(len(raw)):
        yield raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1 :]


def kinds(stories: Iterable[Sequence[Entry]]) -> set[str]:
    return {msgspec.json.decode(entry.body, type=Event).type for story in stories for entry in story}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stories", "fold_story", "all_kinds"),
    [(matches, fold_match, match_events.TYPES), (tables_told, fold_table, tables.TYPES)],
    ids=["matches", "tables"],
)
def test_a_flip_in_any_byte_of_any_kind_of_entry_is_named_with_its_version(
    stories: Callable[[], Iterable[list[Entry]]], fold_story: Fold, all_kinds: dict[str, type]
) -> None:
    rng = random.Random(7)
    assert kinds(stories()) == set(all_kinds)
    for entries in stories():
        fold_story(entries)
        for number, entry in enumerate(entries):
            changed = [Entry(entry.version, body, entry.hash) for body in flips(entry.body, rng)]
            changed += [Entry(entry.version, entry.body, hash_) for hash_ in flips(entry.hash, rng)]
            for other in changed:
                with pytest.raises(HistoryCorrupt) as caught:
                    fold_story([*entries[:number], other, *entries[number + 1 :]])
                assert caught.value.version == number + 1


def test_a_flip_in_any_byte_of_the_seed_is_named_with_version_one() -> None:
    entries = next(iter(matches()))
    for seed in flips(SEED, random.Random(8)):
        with pytest.raises(HistoryCorrupt) as caught:
            fold(MATCH, seed, entries, ruleset_for)
        assert caught.value.version == 1
