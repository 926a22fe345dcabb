"""The frames of a live connection, both ways: JSON objects tagged by `type`."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Raw, Struct

from gateway.callers import Version
from gateway.problems import Problem
from gateway.tables import Table
from services.core.ids import MatchId

Id = Annotated[str, Meta(max_length=64)]
RequestId = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]*$")]
Name = Annotated[str, Meta(max_length=128)]


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`id`: chosen by the client; the receipt or problem that answers the frame carries it."""

    id: Id = ""


class HelloFrame(Asked, frozen=True, tag="hello", kw_only=True):
    """The first frame of a client that sent no Authorization header. No token: a spectator."""

    token: str | None = None


class FollowFrame(Asked, frozen=True, tag="follow", kw_only=True):
    """Send what happens in `match`: first the view, or with `after` the events after that version.

    `invite`: the code of a private match.
    """

    match: Name
    after: Version | None = None
    invite: Name = ""


class UnfollowFrame(Asked, frozen=True, tag="unfollow", kw_only=True):
    match: Name


class Ordered(Asked, frozen=True, kw_only=True):
    """A command for `match`; where the connection was opened for one match, that is the default.

    `request_id`: the same one again is answered, not repeated; a random one if there is none.
    `traceparent`: W3C trace context, in place of the one that the connection was opened with.
    """

    match: Name = ""
    request_id: RequestId = ""
    traceparent: Name = ""
    expected_version: Version | None = None


class MoveFrame(Ordered, frozen=True, tag="move", kw_only=True):
    """`move`: by the title's schema. `expected_version`: the version that the client looks at."""

    move: Raw
    expected_version: Version


class ResignFrame(Ordered, frozen=True, tag="resign", kw_only=True):
    pass


class OfferDrawFrame(Ordered, frozen=True, tag="offer_draw", kw_only=True):
    pass


class AnswerDrawFrame(Ordered, frozen=True, tag="answer_draw", kw_only=True):
    """`offer`: the version of the offer."""

    offer: Version
    accept: bool


class RequestTakebackFrame(Ordered, frozen=True, tag="request_takeback", kw_only=True):
    pass


class AnswerTakebackFrame(Ordered, frozen=True, tag="answer_takeback", kw_only=True):
    """`request`: the version of the request."""

    request: Version
    accept: bool


Order = (
    MoveFrame | ResignFrame | OfferDrawFrame | AnswerDrawFrame | RequestTakebackFrame | AnswerTakebackFrame
)
ClientFrame = HelloFrame | FollowFrame | UnfollowFrame | Order

read_frame: Callable[[bytes], ClientFrame] = msgspec.json.Decoder(ClientFrame).decode


class _Named(Struct, frozen=True):
    id: Id = ""


_read_named = msgspec.json.Decoder(_Named).decode


class Frame(NamedTuple):
    """A frame to a client. `version`: of the match it brings the client to; 0 if it brings none."""

    kind: str
    version: int
    body: bytes


class Told(Struct, frozen=True, kw_only=True):
    """What the server says."""


class GreetingFrame(Told, frozen=True, tag="hello", kw_only=True):
    """Who the client is; null for a spectator without a token."""

    player: str | None


class TableFrame(Told, frozen=True, tag="table", kw_only=True):
    """The match has not begun; a view follows once it does."""

    match: str
    table: Table


class ViewFrame(Told, frozen=True, tag="view", kw_only=True):
    """The whole match as the client may see it: forget what was before."""

    match: str
    version: int
    view: Raw


class EventFrame(Told, frozen=True, tag="event", kw_only=True, omit_defaults=True):
    """The next event of the match. `view`: the match after it; left out for events that were missed."""

    match: str
    version: int
    event: Raw
    view: Raw | None = None


class ReceiptFrame(Told, frozen=True, tag="receipt", kw_only=True):
    """The command `id` is stored. `head`: hash of the stream, Base64. `view`: the match after it."""

    id: str
    match: str
    version: int
    head: str
    view: Raw


class HeadFrame(Told, frozen=True, tag="head", kw_only=True):
    """The versions that the followed matches are known to be at, every few seconds."""

    heads: dict[MatchId, int]


class ByeFrame(Told, frozen=True, tag="bye", kw_only=True):
    """The connection ends. `resume`: follow again with `after` set to these versions, elsewhere or later."""

    reason: str
    resume: dict[MatchId, int]


_encode = msgspec.json.Encoder().encode


def told(frame: Told, version: int = 0) -> Frame:
    """`frame`, written."""
    return Frame(str(type(frame).__struct_config__.tag), version, _encode(frame))


def pushed(version: int, happened: bytes) -> Frame:
    """What a worker pushed is an `event` frame but for its tag."""
    return Frame("event", version, b'{"type":"event",' + happened[1:])


def receipt(id_: str, body: bytes) -> Frame:
    """A worker's receipt as the answer to frame `id_`."""
    return Frame("receipt", 0, b'{"type":"receipt","id":' + _encode(id_) + b"," + body[1:])


def id_of(raw: bytes) -> str:
    """The id of a frame that may be unreadable otherwise; empty when it has none."""
    try:
        return _read_named(raw).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def problem(found: Problem, id_: str = "", request_id: str = "", match: str = "") -> Frame:
    """A problem's members; `reason` says what `type` says over HTTP, whose place the tag takes."""
    members: dict[str, Any] = {"type": "problem"}
    if id_:
        members["id"] = id_
    if match:
        members["match"] = match
    members |= {name: value for name, value in found.members.items() if name not in ("type", "instance")}
    if found.retry_after_s is not None:
        members["retry_after_s"] = found.retry_after_s
    if request_id:
        members["request_id"] = request_id
    return Frame("problem", 0, _encode(members))
