"""`decide`: what a command makes of a match. One accepted command is one event; a refusal is an error.

Nothing is stored here and nothing changes: the caller appends `Decision.entry` and, once the
store has it, goes on with `Decision.match`.
"""

from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from services.core import clock
from services.core.chance import Rolling
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
    fingerprint,
)
from services.core.errors import (
    ClockExpired,
    ClockRunning,
    MatchOver,
    NoMoreOffers,
    NothingToAnswer,
    NotSeated,
    NotYourTurn,
    OfferOpen,
    TakebackRefused,
    VersionConflict,
)
from services.core.events import SYSTEM, Entry, Event, seal, text_of
from services.core.match import Match, Offer, advance
from services.core.match_events import (
    NAMES,
    ClockFlagged,
    DrawAccepted,
    DrawDeclined,
    DrawOffered,
    Happening,
    MatchAborted,
    MoveMade,
    SeatResigned,
    TakebackAccepted,
    TakebackDeclined,
    TakebackRequested,
)
from services.core.secrecy import digest, salt
from services.core.title import Outcome
from services.core.upcast import schema_of

# Moves are bounded by the title; talk between two who agree to go on for ever is bounded here.
OFFERS_UNTIL = 10_000


class Decision(Struct, frozen=True):
    """An event that may follow, as it would be stored, and the match after it."""

    event: Event
    entry: Entry
    match: Match


class Repeated(Struct, frozen=True):
    """The same request was accepted before, as the event at `version`."""

    version: int


def decide(match: Match, command: AnyCommand, issued: Issued) -> Decision | Repeated:
    """Raises a DomainError when the command is refused."""
    by: int | str = SYSTEM
    if not isinstance(command, FlagClock | Abort):
        seat = match.seat_of(issued.player)
        if seat is None:
            raise NotSeated
        by = seat
    move = None
    if isinstance(command, SubmitMove):
        move = match.ruleset.read_move(command.move)
        command = replace(command, move=match.ruleset.write(move))
    earlier = match.answered_at(command, issued)
    if earlier is not None:
        return Repeated(earlier)
    if match.outcome is not None:
        raise MatchOver(match.version)
    if command.expected_version not in (None, match.version):
        raise VersionConflict(command.expected_version or 0, match.version)
    at = max(issued.at, match.at)
    fact, state = _fact(match, command, by, move, at)
    return _sealed(match, command, issued, by, at, fact, state)


def _fact(match: Match, command: AnyCommand, by: int | str, move: Any, at: int) -> tuple[Happening, Any]:
    """What happens, and the title's position after it."""
    if isinstance(command, FlagClock):
        return _flag(match, at), match.state
    if isinstance(command, Abort):
        outcome = Outcome((), "abort")
        return MatchAborted(note=command.note, outcome=outcome), match.state
    assert isinstance(by, int), "every other command comes from a seat"
    match command:
        case SubmitMove():
            return _move(match, by, command, move, at)
        case Resign():
            outcome = _others_win(match, by, "resignation")
            return SeatResigned(outcome=outcome), match.state
        case OfferDraw():
            _refuse_endless_talk(match)
            if match.draw_offer:
                raise OfferOpen("draw offer", match.draw_offer.version)
            return DrawOffered(), match.state
        case AnswerDraw():
            return _answer_draw(match, by, command), match.state
        case RequestTakeback():
            return _request_takeback(match, by), match.state
        case AnswerTakeback():
            return _answer_takeback(match, by, command), match.state
        case _:
            assert_never(command)


def _move(match: Match, seat: int, command: SubmitMove, move: Any, at: int) -> tuple[MoveMade, Any]:
    if seat not in match.to_act:
        raise NotYourTurn(seat, match.version)
    flag = match.flag
    if flag and at > flag[1]:
        raise ClockExpired(*flag)
    title = match.ruleset.title
    chance = Rolling(match.luck_key, match.luck)
    state = title.apply(match.state, seat, move, chance)
    return MoveMade(move=command.move, chance=chance.outcomes, outcome=title.outcome(state)), state


def _flag(match: Match, at: int) -> ClockFlagged:
    flag = match.flag
    if flag is None or at <= flag[1] + clock.GRACE_MS:
        raise ClockRunning
    return ClockFlagged(seat=flag[0], outcome=_others_win(match, flag[0], "time"))


def _answer_draw(match: Match, seat: int, command: AnswerDraw) -> Happening:
    offer = _open(match.draw_offer, seat, "draw offer", command.offer)
    if not command.accept:
        return DrawDeclined(offer=offer.version)
    outcome = None
    if _unanimous(match, offer, seat):
        outcome = Outcome(tuple(range(len(match.started.seats))), "agreement")
    return DrawAccepted(offer=offer.version, outcome=outcome)


def _refuse_endless_talk(match: Match) -> None:
    if match.version >= OFFERS_UNTIL:
        raise NoMoreOffers(OFFERS_UNTIL)


def _request_takeback(match: Match, seat: int) -> TakebackRequested:
    _refuse_endless_talk(match)
    if match.takeback:
        raise OfferOpen("takeback request", match.takeback.version)
    if not match.ruleset.title.takebacks:
        raise TakebackRefused(f"{match.ruleset.title.name} has none")
    _takeback_version(match, seat)
    return TakebackRequested()


def _answer_takeback(match: Match, seat: int, command: AnswerTakeback) -> Happening:
    request = _open(match.takeback, seat, "takeback request", command.request)
    if not command.accept:
        return TakebackDeclined(request=request.version)
    to = _takeback_version(match, request.by) if _unanimous(match, request, seat) else 0
    return TakebackAccepted(request=request.version, to=to)


def _takeback_version(match: Match, seat: int) -> int:
    """The version whose position stood before `seat`'s last move."""
    for undo in reversed(match.undo):
        if undo.seat == seat:
            return undo.version
    raise TakebackRefused(f"seat {seat} has made no move that can be taken back")


def _open(offer: Offer | None, seat: int, what: str, quoted: int) -> Offer:
    """The open offer, if it is the one quoted and waits for this seat."""
    if offer is None or offer.version != quoted or seat == offer.by or seat in offer.agreed:
        raise NothingToAnswer(what, quoted)
    return offer


def _unanimous(match: Match, offer: Offer, seat: int) -> bool:
    return len(offer.agreed | {offer.by, seat}) == len(match.started.seats)


def _others_win(match: Match, loser: int, reason: str) -> Outcome:
    return Outcome(tuple(seat for seat in range(len(match.started.seats)) if seat != loser), reason)


def _sealed(
    match: Match, command: AnyCommand, issued: Issued, by: int | str, at: int, fact: Happening, state: Any
) -> Decision:
    if fact.outcome is not None:
        fact = replace(fact, seed=text_of(match.seed))
    name = NAMES[type(fact)]
    after_state = state
    if isinstance(fact, TakebackAccepted) and fact.to:
        after_state = next(undo.state for undo in match.undo if undo.version == fact.to)
    event = Event(
        type=name,
        version=match.version + 1,
        schema=schema_of(name),
        at=at,
        by=by,
        request_id=issued.request_id,
        fingerprint=fingerprint(command) if issued.request_id else "",
        data=match.ruleset.write(fact),
        digest=digest(match.seed, match.ruleset.title.canonical(after_state)),
        salt=salt(match.seed, match.version + 1),
        traceparent=issued.traceparent,
    )
    entry = seal(event, match.head)
    return Decision(event, entry, advance(match, event, entry.hash, fact, state))
