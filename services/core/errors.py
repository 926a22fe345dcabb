"""Every way a command can be refused: one small class each, named by what is wrong.

A `reason` is public and stable: clients branch on it. The message is built from the facts, so
both always agree. How a reason travels over gRPC or HTTP is decided in `services.kit.statuses`
alone.
"""

from dataclasses import dataclass, fields
from typing import ClassVar


@dataclass(eq=False)
class DomainError(Exception):
    """A typed refusal. Nothing was stored."""

    reason: ClassVar[str] = "BUG"
    says: ClassVar[str] = "something went wrong"

    @property
    def facts(self) -> dict[str, str | int]:
        """The refusal's data, by name; safe to show to the caller."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        return self.says.format(**self.facts)


# What the caller wrote cannot be read.


@dataclass(eq=False)
class BadRequest(DomainError):
    reason: ClassVar[str] = "BAD_REQUEST"
    says: ClassVar[str] = "{field}: {detail}"
    field: str
    detail: str


@dataclass(eq=False)
class OptionInvalid(DomainError):
    """A title's option, or number of seats, that the title does not offer."""

    reason: ClassVar[str] = "OPTION_INVALID"
    says: ClassVar[str] = "option {option}: {detail}"
    option: str
    detail: str


@dataclass(eq=False)
class MoveUnreadable(DomainError):
    """The move does not have the shape of any move of this title."""

    reason: ClassVar[str] = "MOVE_UNREADABLE"
    says: ClassVar[str] = "this is no move of the title: {detail}"
    detail: str


# What the caller wrote can be read, and the rules or the state of the match forbid it.


@dataclass(eq=False)
class MoveIllegal(DomainError):
    """`rule` is an id that the title documents in its `rules` table."""

    reason: ClassVar[str] = "MOVE_ILLEGAL"
    says: ClassVar[str] = "rule {rule}: {detail}"
    rule: str
    detail: str


@dataclass(eq=False)
class NotYourTurn(DomainError):
    reason: ClassVar[str] = "NOT_YOUR_TURN"
    says: ClassVar[str] = "seat {seat} may not move at version {version}"
    seat: int
    version: int


@dataclass(eq=False)
class MatchOver(DomainError):
    reason: ClassVar[str] = "MATCH_OVER"
    says: ClassVar[str] = "the match ended at version {version}"
    version: int


@dataclass(eq=False)
class ClockExpired(DomainError):
    reason: ClassVar[str] = "CLOCK_EXPIRED"
    says: ClassVar[str] = "seat {seat} ran out of time at {deadline_ms}"
    seat: int
    deadline_ms: int


@dataclass(eq=False)
class ClockRunning(DomainError):
    """A flag that has not fallen, or whose grace is not over."""

    reason: ClassVar[str] = "CLOCK_RUNNING"
    says: ClassVar[str] = "no clock has run out"


@dataclass(eq=False)
class NothingToAnswer(DomainError):
    """An answer quotes an offer that is not open (any more)."""

    reason: ClassVar[str] = "NOTHING_TO_ANSWER"
    says: ClassVar[str] = "no {what} made at version {quoted} is open"
    what: str
    quoted: int


@dataclass(eq=False)
class OfferOpen(DomainError):
    reason: ClassVar[str] = "OFFER_OPEN"
    says: ClassVar[str] = "the {what} of version {version} waits for an answer"
    what: str
    version: int


@dataclass(eq=False)
class NoMoreOffers(DomainError):
    """So long a match takes moves only, and what ends it: the titles bound those."""

    reason: ClassVar[str] = "NO_MORE_OFFERS"
    says: ClassVar[str] = "after version {limit} there are no more offers and takebacks"
    limit: int


@dataclass(eq=False)
class TakebackRefused(DomainError):
    """The title, or the luck drawn since, does not allow it."""

    reason: ClassVar[str] = "TAKEBACK_REFUSED"
    says: ClassVar[str] = "no takeback: {detail}"
    detail: str


@dataclass(eq=False)
class VersionConflict(DomainError):
    reason: ClassVar[str] = "VERSION_CONFLICT"
    says: ClassVar[str] = "expected version {expected}, but the stream is at {actual}"
    expected: int
    actual: int


@dataclass(eq=False)
class HistoryForked(DomainError):
    """The stream does not hold the head that the writer folded (a lost tail): refold from the stream."""

    reason: ClassVar[str] = "HISTORY_FORKED"
    says: ClassVar[str] = "{stream} no longer holds version {version} as it was; it is at {actual}"
    stream: str
    version: int
    actual: int


@dataclass(eq=False)
class RequestIdReused(DomainError):
    reason: ClassVar[str] = "REQUEST_ID_REUSED"
    says: ClassVar[str] = "the request id was used at version {version} for another command"
    version: int


# Tables.


@dataclass(eq=False)
class SeatTaken(DomainError):
    reason: ClassVar[str] = "SEAT_TAKEN"
    says: ClassVar[str] = "seat {seat} is taken"
    seat: int


@dataclass(eq=False)
class TableFull(DomainError):
    reason: ClassVar[str] = "TABLE_FULL"
    says: ClassVar[str] = "all {seats} seats are taken"
    seats: int


@dataclass(eq=False)
class AlreadySeated(DomainError):
    reason: ClassVar[str] = "ALREADY_SEATED"
    says: ClassVar[str] = "you already have seat {seat}"
    seat: int


@dataclass(eq=False)
class TableClosed(DomainError):
    """The table has started, or its host has closed it."""

    reason: ClassVar[str] = "TABLE_CLOSED"
    says: ClassVar[str] = "the table is {status}"
    status: str


@dataclass(eq=False)
class TableNotReady(DomainError):
    reason: ClassVar[str] = "TABLE_NOT_READY"
    says: ClassVar[str] = "{taken} of at least {needed} seats are taken"
    taken: int
    needed: int


@dataclass(eq=False)
class NotStarted(DomainError):
    reason: ClassVar[str] = "NOT_STARTED"
    says: ClassVar[str] = "the match has not started"


@dataclass(eq=False)
class NotOver(DomainError):
    reason: ClassVar[str] = "NOT_OVER"
    says: ClassVar[str] = "the match is still running; its record is sealed until the end"


# Who the caller is, and what that allows.


@dataclass(eq=False)
class TokenInvalid(DomainError):
    reason: ClassVar[str] = "TOKEN_INVALID"
    says: ClassVar[str] = "the token is not valid: {detail}"
    detail: str


@dataclass(eq=False)
class NotSeated(DomainError):
    reason: ClassVar[str] = "NOT_SEATED"
    says: ClassVar[str] = "this needs a seat at the table, or an invitation"


@dataclass(eq=False)
class NotAllowed(DomainError):
    reason: ClassVar[str] = "NOT_ALLOWED"
    says: ClassVar[str] = "this needs {needs}"
    needs: str


# Things that do not exist.


@dataclass(eq=False)
class NoSuchMatch(DomainError):
    reason: ClassVar[str] = "NO_SUCH_MATCH"
    says: ClassVar[str] = "no match {match}"
    match: str


@dataclass(eq=False)
class NoSuchVersion(DomainError):
    reason: ClassVar[str] = "NO_SUCH_VERSION"
    says: ClassVar[str] = "the match has no version {version}; it is at {head}"
    version: int
    head: int


@dataclass(eq=False)
class NoSuchTitle(DomainError):
    reason: ClassVar[str] = "NO_SUCH_TITLE"
    says: ClassVar[str] = "no title {title}"
    title: str


@dataclass(eq=False)
class NoSuchPlayer(DomainError):
    reason: ClassVar[str] = "NO_SUCH_PLAYER"
    says: ClassVar[str] = "no player {player}"
    player: str


# Limits and outages.


@dataclass(eq=False)
class TooLarge(DomainError):
    reason: ClassVar[str] = "TOO_LARGE"
    says: ClassVar[str] = "{what} is larger than {limit} bytes"
    what: str
    limit: int


@dataclass(eq=False)
class TooManyRequests(DomainError):
    reason: ClassVar[str] = "TOO_MANY_REQUESTS"
    says: ClassVar[str] = "too many requests; try again in {retry_after_s} s"
    retry_after_s: int


@dataclass(eq=False)
class Overloaded(DomainError):
    reason: ClassVar[str] = "OVERLOADED"
    says: ClassVar[str] = "{what} is at its limit of {limit}; try again in {retry_after_s} s"
    what: str
    limit: int
    retry_after_s: int


@dataclass(eq=False)
class LimitReached(DomainError):
    """There may be no more of these; waiting alone does not help."""

    reason: ClassVar[str] = "LIMIT_REACHED"
    says: ClassVar[str] = "there may be at most {limit} {what}"
    what: str
    limit: int


@dataclass(eq=False)
class RebuildUnderWay(DomainError):
    reason: ClassVar[str] = "REBUILD_UNDER_WAY"
    says: ClassVar[str] = "a rebuild of the read models is under way; one runs at a time"


@dataclass(eq=False)
class StoreUnavailable(DomainError):
    reason: ClassVar[str] = "STORE_UNAVAILABLE"
    says: ClassVar[str] = "the store does not answer: {detail}"
    detail: str


@dataclass(eq=False)
class TitleDown(DomainError):
    """No live worker carries the title in the rules version that is needed."""

    reason: ClassVar[str] = "TITLE_DOWN"
    says: ClassVar[str] = "no worker of {title} can serve this now: {detail}"
    title: str
    detail: str


@dataclass(eq=False)
class ServiceDown(DomainError):
    reason: ClassVar[str] = "SERVICE_DOWN"
    says: ClassVar[str] = "{service} does not answer: {detail}"
    service: str
    detail: str


@dataclass(eq=False)
class Deadline(DomainError):
    """Whether it was done is unknown: a command with a request id can be repeated, and any read."""

    reason: ClassVar[str] = "DEADLINE"
    says: ClassVar[str] = "no answer within {limit_ms} ms; whether it was done is unknown"
    limit_ms: int


@dataclass(eq=False)
class HistoryCorrupt(DomainError):
    """A stream contradicts itself. The match is not served; all others are."""

    reason: ClassVar[str] = "HISTORY_CORRUPT"
    says: ClassVar[str] = "{stream} is damaged at version {version}: {detail}"
    stream: str
    version: int
    detail: str


# Nobody is to blame and nothing is decided: the same again, later, may go well.
OUTAGES = (StoreUnavailable, Overloaded, TitleDown, ServiceDown, Deadline)
