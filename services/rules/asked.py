"""Requests from the wire as the core's own words. Raises BadRequest or TooLarge for what cannot be meant."""

import re

import msgspec
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import Raw
from waystation.rules.v1 import rules_pb2 as pb

from services.core import clock
from services.core.clock import Clock
from services.core.commands import (
    NOTE_MAX,
    Abort,
    AnswerDraw,
    AnswerTakeback,
    AnyCommand,
    Issued,
    OfferDraw,
    RequestTakeback,
    Resign,
    SubmitMove,
)
from services.core.errors import BadRequest, TooLarge
from services.core.ids import MatchId, PlayerId
from services.core.match_events import Sitting
from services.kit import tracing
from services.kit.moment import believed, now_ms
from services.rules.reads import Reader
from services.rules.start import Sealed

MOVE_BYTES_MAX = 16 * 1024
TEXT_MAX = 200  # characters of a request id or a trace context

_MATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # goes into subjects of the bus and into keys


def command_of(request: pb.SubmitCommandRequest) -> AnyCommand:
    """What is to be done."""
    expected = request.expected_version if request.HasField("expected_version") else None
    match request.WhichOneof("command"):
        case "submit_move":
            if len(request.submit_move.move) > MOVE_BYTES_MAX:
                raise TooLarge("move", MOVE_BYTES_MAX)
            return SubmitMove(move=Raw(request.submit_move.move), expected_version=expected)
        case "resign":
            return Resign(expected_version=expected)
        case "offer_draw":
            return OfferDraw(expected_version=expected)
        case "answer_draw":
            answer = request.answer_draw
            return AnswerDraw(offer=answer.offer, accept=answer.accept, expected_version=expected)
        case "request_takeback":
            return RequestTakeback(expected_version=expected)
        case "answer_takeback":
            reply = request.answer_takeback
            return AnswerTakeback(request=reply.request, accept=reply.accept, expected_version=expected)
        case "abort":
            return Abort(note=_short("note", request.abort.note, NOTE_MAX), expected_version=expected)
        case _:
            raise BadRequest("command", "is missing")


def issued_of(request: pb.SubmitCommandRequest) -> Issued:
    """Who asks for it, and when. An abort is the system's, whoever the operator is."""
    return Issued(
        player=None if request.WhichOneof("command") == "abort" else PlayerId(request.player),
        at=_moment(request.at, request.HasField("at")),
        request_id=_short("request_id", request.request_id),
        traceparent=tracing.traceparent(_short("traceparent", request.traceparent)),
    )


def reader_of(reader: pb.Reader) -> Reader:
    return Reader(PlayerId(reader.player) if reader.player else None, reader.admitted)


def sealed_of(request: pb.StartMatchRequest) -> Sealed:
    """What the table agreed on."""
    if not _MATCH_ID.fullmatch(request.match):
        raise BadRequest("match", "is not 1 to 64 letters, digits, - or _")
    seats = tuple(Sitting(seat.player, seat.nonce) for seat in request.seats)
    if not all(seat.player for seat in seats) or len({seat.player for seat in seats}) != len(seats):
        raise BadRequest("seats", "each one needs a player of its own")
    return Sealed(
        match=MatchId(request.match),
        options=Raw(request.options),
        seats=seats,
        private=request.private,
        clock=_clock(request.clock),
        at=_moment(request.at, request.HasField("at")),
        traceparent=tracing.traceparent(_short("traceparent", request.traceparent)),
    )


def _clock(raw: bytes) -> Clock | None:
    if not raw:
        return None
    try:
        return clock.checked(msgspec.json.decode(raw, type=Clock))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRequest("clock", str(error)) from error


def _moment(stamp: Timestamp, told: bool) -> int:
    """UTC ms, as far as the worker believes it; now when nothing is told."""
    now = now_ms()
    return believed(stamp.seconds * 1000 + stamp.nanos // 1_000_000, now) if told else now


def _short(field: str, text: str, most: int = TEXT_MAX) -> str:
    if len(text) > most:
        raise BadRequest(field, f"is longer than {most} characters")
    return text
