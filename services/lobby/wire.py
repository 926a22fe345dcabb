"""Requests from the wire as the lobby's own words, and tables on their way back.

Raises BadRequest or TooLarge for what cannot be meant.
"""

import re
import secrets
from typing import Protocol

import msgspec
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import Raw
from waystation.lobby.v1 import lobby_pb2 as pb

from services.core.clock import Clock, checked
from services.core.commands import Issued
from services.core.errors import BadRequest, NoSuchMatch, TooLarge
from services.core.ids import MatchId, PlayerId
from services.core.tables import Table
from services.kit import tracing
from services.kit.moment import believed, now_ms
from services.lobby.commands import CreateTable, TakeSeat

OPTIONS_BYTES_MAX = 8 * 1024
TEXT_MAX = 200  # characters of a player, a request id, a trace context
NONCE_MAX = 64
SEATS_MAX = 64

_MATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # goes into keys

_STATUS = {
    "open": pb.TABLE_STATUS_OPEN,
    "sealed": pb.TABLE_STATUS_SEALED,
    "closed": pb.TABLE_STATUS_CLOSED,
}


class Request(Protocol):
    """What all requests that change something have in common."""

    player: str
    request_id: str
    traceparent: str

    @property
    def at(self) -> Timestamp: ...


def issued_of(request: Request) -> Issued:
    """Who asks, and when. A request without an id gets one that nobody else has."""
    if not request.player:
        raise BadRequest("player", "is missing")
    stamp, now = request.at, now_ms()
    told = stamp.ToMilliseconds()
    return Issued(
        player=PlayerId(_short("player", request.player)),
        at=believed(told, now) if told else now,
        request_id=_short("request_id", request.request_id) or secrets.token_urlsafe(16),
        traceparent=tracing.traceparent(_short("traceparent", request.traceparent)),
    )


def creation_of(request: pb.CreateTableRequest) -> CreateTable:
    return CreateTable(
        title=_title(request.title),
        options=_options(request.options),
        seats=_seats(request.seats),
        private=request.private,
        clock=_clock(request.clock),
        automatic=not request.manual_start,
        nonce=_short("nonce", request.nonce, NONCE_MAX),
    )


def wish_of(request: pb.QuickMatchRequest) -> CreateTable:
    """The table that is opened if none waits."""
    return CreateTable(
        title=_title(request.title),
        options=_options(request.options),
        seats=_seats(request.seats),
        clock=_clock(request.clock),
        quick=True,
        nonce=_short("nonce", request.nonce, NONCE_MAX),
    )


def seat_of(request: pb.TakeSeatRequest) -> TakeSeat:
    return TakeSeat(
        seat=request.seat if request.HasField("seat") else None,
        nonce=_short("nonce", request.nonce, NONCE_MAX),
    )


def match_of(text: str) -> MatchId:
    """Raises NoSuchMatch for text that is no id of any match."""
    if not _MATCH_ID.fullmatch(text):
        raise NoSuchMatch(text)
    return MatchId(text)


def shown(table: Table) -> pb.Table:
    created, created_at = table.created, Timestamp()
    created_at.FromMilliseconds(table.created_at)
    sitting = enumerate(table.sealed) if table.status == "sealed" else sorted(table.taken.items())
    return pb.Table(
        match=table.id,
        version=table.version,
        title=created.title,
        status=_STATUS[table.status],
        host=table.host,
        seats=created.seats,
        seats_min=created.seats_min,
        taken=[pb.TakenSeat(seat=seat, player=who.player) for seat, who in sitting],
        options=bytes(created.options),
        private=created.private,
        clock=msgspec.json.encode(created.clock) if created.clock else b"",
        automatic=created.automatic,
        commitment=created.commitment,
        created_at=created_at,
    )


def _title(slug: str) -> str:
    if not slug:
        raise BadRequest("title", "is missing")
    return _short("title", slug)


def _options(raw: bytes) -> Raw:
    """The options with their keys sorted: in which order a client writes them makes no difference."""
    if len(raw) > OPTIONS_BYTES_MAX:
        raise TooLarge("options", OPTIONS_BYTES_MAX)
    try:
        options = msgspec.json.decode(raw or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest("options", str(error)) from error
    if not isinstance(options, dict):
        raise BadRequest("options", "is no JSON object")
    return Raw(msgspec.json.encode(options, order="sorted"))


def _seats(number: int) -> int:
    if not 0 <= number <= SEATS_MAX:
        raise BadRequest("seats", f"is not within 0 to {SEATS_MAX}")
    return number


def _clock(raw: bytes) -> Clock | None:
    if not raw:
        return None
    try:
        return checked(msgspec.json.decode(raw, type=Clock))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRequest("clock", str(error)) from error


def _short(field: str, text: str, limit: int = TEXT_MAX) -> str:
    if len(text) > limit:
        raise BadRequest(field, f"is longer than {limit} characters")
    return text
