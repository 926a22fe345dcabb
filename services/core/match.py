"""A match, whatever its title: `decide(match, command) -> event`, `evolve(match, event) -> match`.

The match layer owns what all titles share: seats and who sits there, turn order, versions,
requests already answered, offers, clocks, and the end. It is a value; nothing here does I/O.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from services.core import clock
from services.core.chance import LuckMismatch, Recorded, luck_key
from services.core.commands import Command, Issued, fingerprint, request_key
from services.core.errors import HistoryCorrupt, MoveIllegal, MoveUnreadable, OptionInvalid, RequestIdReused
from services.core.events import SYSTEM, Event
from services.core.ids import MatchId, PlayerId, match_stream
from services.core.match_events import (
    ClockFlagged,
    DrawAccepted,
    DrawDeclined,
    DrawOffered,
    Happening,
    MatchAborted,
    MatchStarted,
    MoveMade,
    TakebackAccepted,
    TakebackDeclined,
    TakebackRequested,
    happening,
)
from services.core.ruleset import Ruleset
from services.core.title import Outcome

# Nobody at the table does these; all else that follows the beginning is done by a seat.
_BY_SYSTEM = (ClockFlagged, MatchAborted)


class Offer(Struct, frozen=True):
    """An open draw offer or takeback request: the version it was made at, by whom, and who agreed since."""

    version: int
    by: int
    agreed: frozenset[int] = frozenset()


class Undo(Struct, frozen=True):
    """The position at `version`, which `seat` then left by a move without luck."""

    version: int
    seat: int
    state: Any


class Answered(Struct, frozen=True):
    """A request that became the event at `version`."""

    version: int
    fingerprint: str


class Match(Struct, frozen=True, kw_only=True):
    """A match at one version.

    `head`: hash of the stream's last entry. `at`: UTC ms of the last event. `luck`: random outcomes so
    far. `remaining`: ms left by seat, as of `at`. `undo`: newest last, cleared by luck, at most two
    turns round the table. `seed`: secret until the match is over.
    """

    id: MatchId
    ruleset: Ruleset
    seed: bytes
    luck_key: bytes
    started: MatchStarted
    version: int
    head: bytes
    at: int
    state: Any
    to_act: frozenset[int]
    luck: int
    answered: dict[str, Answered]
    draw_offer: Offer | None = None
    takeback: Offer | None = None
    undo: tuple[Undo, ...] = ()
    remaining: clock.Remaining = ()
    outcome: Outcome | None = None

    def seat_of(self, player: PlayerId | None) -> int | None:
        """None for a spectator."""
        for number, sitting in enumerate(self.started.seats):
            if sitting.player == player:
                return number
        return None

    def answered_at(self, command: Command, issued: Issued) -> int | None:
        """The version of the receipt this very request already got. Raises RequestIdReused."""
        earlier = self.answered.get(request_key(command, issued)) if issued.request_id else None
        if earlier is None:
            return None
        if earlier.fingerprint != fingerprint(command):
            raise RequestIdReused(earlier.version)
        return earlier.version

    @property
    def flag(self) -> tuple[int, int] | None:
        """(seat, UTC ms) of the next flag, if a clock runs."""
        return None if self.outcome else clock.first_to_fall(self.remaining, self.to_act, self.at)


def begin(match: MatchId, ruleset: Ruleset, seed: bytes, event: Event, head: bytes = b"") -> Match:
    """The match after its first event. Raises HistoryCorrupt."""
    stream = match_stream(match)
    started = happening(stream, event)
    if not isinstance(started, MatchStarted):
        raise HistoryCorrupt(stream, event.version, f"begins with {event.type}")
    seats = len(started.seats)
    chance = Recorded(started.chance)
    try:
        options = ruleset.read_options(started.options, seats)
        state = ruleset.title.setup(options, seats, chance)
    except (LuckMismatch, OptionInvalid) as error:
        raise HistoryCorrupt(stream, event.version, str(error)) from error
    if not chance.spent:
        raise HistoryCorrupt(stream, event.version, "more luck was recorded than the set-up asked for")
    return opened(match, ruleset, seed, event, started, state, head)


def opened(
    match: MatchId,
    ruleset: Ruleset,
    seed: bytes,
    event: Event,
    started: MatchStarted,
    state: Any,
    head: bytes,
) -> Match:
    """The match at version 1, its first position known."""
    return Match(
        id=match,
        ruleset=ruleset,
        seed=seed,
        luck_key=luck_key(seed, match, [sitting.nonce for sitting in started.seats]),
        started=started,
        version=1,
        head=head,
        at=event.at,
        state=state,
        to_act=ruleset.title.to_act(state),
        luck=len(started.chance),
        answered={},
        remaining=clock.wound_up(started.clock, len(started.seats)),
        outcome=started.outcome,
    )


def evolve(match: Match, event: Event, head: bytes) -> Match:
    """The match after `event`, whose entry has the hash `head`.

    Raises HistoryCorrupt for an event that could not have happened.
    """
    fact = happening(match_stream(match.id), event)
    _refuse_misplaced(match, event, fact)
    if isinstance(fact, MoveMade):
        return advance(match, event, head, fact, _replayed(match, event, fact))
    return advance(match, event, head, fact, match.state)


def advance(match: Match, event: Event, head: bytes, fact: Happening, state: Any) -> Match:
    """The match after `event`, the position after it being known. `decide` and `evolve` both end here."""
    remaining = clock.elapsed(match.remaining, match.to_act, event.at - match.at)
    if isinstance(fact, MoveMade):
        return _moved(match, event, head, fact, state, remaining)
    after = replace(
        match,
        version=event.version,
        head=head,
        at=event.at,
        to_act=frozenset() if fact.outcome else match.to_act,
        remaining=remaining,
        answered=_with_receipt(match, event),
        outcome=fact.outcome,
    )
    match fact:
        case DrawOffered():
            return replace(after, draw_offer=Offer(event.version, _seat(event)))
        case DrawAccepted():
            return replace(after, draw_offer=_agreed(match.draw_offer, event))
        case DrawDeclined():
            return replace(after, draw_offer=None)
        case TakebackRequested():
            return replace(after, takeback=Offer(event.version, _seat(event)))
        case TakebackDeclined():
            return replace(after, takeback=None)
        case TakebackAccepted():
            return _taken_back(match, after, event, fact)
        case _:
            return after


def _moved(
    before: Match, event: Event, head: bytes, fact: MoveMade, state: Any, remaining: clock.Remaining
) -> Match:
    seat = _seat(event)
    to_act = frozenset[int]() if fact.outcome else before.ruleset.title.to_act(state)
    if seat not in to_act:
        remaining = clock.credited(before.started.clock, remaining, seat)
    undo: tuple[Undo, ...] = ()
    if before.ruleset.title.takebacks and not fact.chance:
        undo = (*before.undo, Undo(before.version, seat, before.state))[-2 * len(before.started.seats) :]
    return replace(
        before,
        version=event.version,
        head=head,
        at=event.at,
        state=state,
        to_act=to_act,
        luck=before.luck + len(fact.chance),
        answered=_with_receipt(before, event),
        outcome=fact.outcome,
        remaining=remaining,
        draw_offer=None,
        takeback=None,
        undo=undo,
    )


def _refuse_misplaced(match: Match, event: Event, fact: Happening) -> None:
    """Raises HistoryCorrupt for an event that no command could have become here, whatever it says."""
    by, problem = event.by, ""
    if match.outcome is not None:
        problem = f"{event.type} after the end"
    elif isinstance(fact, _BY_SYSTEM):
        if by != SYSTEM:
            problem = f"{event.type} by {by}"
    elif isinstance(fact, MatchStarted):
        problem = "begins again"
    elif not isinstance(by, int) or not 0 <= by < len(match.started.seats):
        problem = f"{event.type} by {by}"
    if problem:
        raise HistoryCorrupt(match_stream(match.id), event.version, problem)


def _taken_back(before: Match, after: Match, event: Event, fact: TakebackAccepted) -> Match:
    if not fact.to:
        return replace(after, takeback=_agreed(before.takeback, event))
    place = next((n for n, undo in enumerate(before.undo) if undo.version == fact.to), None)
    if place is None:
        stream = match_stream(before.id)
        raise HistoryCorrupt(stream, event.version, f"takes back to version {fact.to}, which cannot be")
    state = before.undo[place].state
    return replace(
        after,
        state=state,
        to_act=before.ruleset.title.to_act(state),
        undo=before.undo[:place],
        draw_offer=None,
        takeback=None,
    )


def _replayed(match: Match, event: Event, fact: MoveMade) -> Any:
    stream = match_stream(match.id)
    seat = _seat(event)
    if seat not in match.to_act:
        raise HistoryCorrupt(stream, event.version, f"seat {seat} moved out of turn")
    chance = Recorded(fact.chance)
    try:
        move = match.ruleset.read_move(fact.move)
        state = match.ruleset.title.apply(match.state, seat, move, chance)
    except (LuckMismatch, MoveIllegal, MoveUnreadable) as error:
        raise HistoryCorrupt(stream, event.version, str(error)) from error
    if not chance.spent:
        raise HistoryCorrupt(stream, event.version, "more luck was recorded than the move asked for")
    return state


def _agreed(offer: Offer | None, event: Event) -> Offer | None:
    return replace(offer, agreed=offer.agreed | {_seat(event)}) if offer else None


def _with_receipt(match: Match, event: Event) -> dict[str, Answered]:
    if not event.request_id:
        return match.answered
    return {**match.answered, _receipt_key(match, event): Answered(event.version, event.fingerprint)}


def _receipt_key(match: Match, event: Event) -> str:
    player = match.started.seats[event.by].player if isinstance(event.by, int) else None
    return f"{player}/{_COMMAND_OF[event.type]}/{event.request_id}"


# Which kind of command an event answers: request ids are scoped by it.
_COMMAND_OF = {
    "move_made": "SubmitMove",
    "seat_resigned": "Resign",
    "draw_offered": "OfferDraw",
    "draw_accepted": "AnswerDraw",
    "draw_declined": "AnswerDraw",
    "takeback_requested": "RequestTakeback",
    "takeback_accepted": "AnswerTakeback",
    "takeback_declined": "AnswerTakeback",
    "clock_flagged": "FlagClock",
    "match_aborted": "Abort",
}


def _seat(event: Event) -> int:
    assert isinstance(event.by, int), f"{event.type} is by a seat, not by {SYSTEM}"
    return event.by
