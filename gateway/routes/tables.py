"""Tables: create one, sit down, leave, start; or let a quick match find one."""

from contextlib import nullcontext
from typing import Annotated, Literal

import msgspec
from litestar import Response, delete, post
from msgspec import Meta, Struct
from waystation.lobby.v1 import lobby_pb2

from gateway.bodies import Body, answered
from gateway.callers import Sender, now
from gateway.parts import Parts
from gateway.requests import AnyRequest
from gateway.says import AT_A_TABLE, SIGNED, says
from gateway.tables import Table, shown
from services.core import errors
from services.core.clock import Clock, checked

Nonce = Annotated[str, Meta(max_length=64)]
Slug = Annotated[str, Meta(min_length=1, max_length=64)]
Seats = Annotated[int, Meta(ge=0, le=64)]
Options = dict[str, msgspec.Raw]


class NewTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`options`: by the title's schema, defaults for what is missing. `seats`: 0 for the fewest allowed.

    `visibility`: `private` needs a seat or the invite code to see it. `start`: `automatic` when the last
    seat is taken, `manual` when the host says so. `nonce`: any text that you add to the luck.
    """

    title: Slug
    options: Options = {}
    seats: Seats = 0
    visibility: Literal["public", "private"] = "public"
    clock: Clock | None = None
    start: Literal["automatic", "manual"] = "automatic"
    nonce: Nonce = ""


class NewSeat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`seat`: counted from 0; the first free one without it. `nonce`: any text that you add to the luck."""

    seat: Seats | None = None
    nonce: Nonce = ""
    invite: Annotated[str, Meta(max_length=128)] = ""


class QuickMatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to play, with anyone who wants the same."""

    title: Slug
    options: Options = {}
    seats: Seats = 0
    clock: Clock | None = None
    nonce: Nonce = ""


_NEW_TABLE = Body(NewTable)
_NEW_SEAT = Body(NewSeat)
_QUICK_MATCH = Body(QuickMatch)

_OPENING = (
    *SIGNED,
    errors.NoSuchTitle,
    errors.OptionInvalid,
    errors.LimitReached,
    errors.RequestIdReused,
    errors.TitleDown,
    errors.ServiceDown,
    errors.Deadline,
    errors.StoreUnavailable,
)
_SITTING = (*SIGNED, *AT_A_TABLE, errors.TableClosed, errors.RequestIdReused, errors.StoreUnavailable)


@post(
    "/v1/matches", tags=["tables"], opt=says(Table, body=_NEW_TABLE, refuses=_OPENING, headers=("Location",))
)
async def create_table(sender: Sender, parts: Parts, body: bytes) -> Response[bytes]:
    """A new table with you on the first seat. It becomes a match of the same id."""
    wanted = _NEW_TABLE.read(body)
    request = lobby_pb2.CreateTableRequest(
        player=sender.player,
        request_id=sender.request_id,
        title=wanted.title,
        options=msgspec.json.encode(wanted.options),
        seats=wanted.seats,
        private=wanted.visibility == "private",
        clock=_clock(wanted.clock),
        manual_start=wanted.start == "manual",
        nonce=wanted.nonce,
        at=now(),
        traceparent=sender.traceparent,
    )
    created = await parts.lobby.call(lambda lobby: lobby.CreateTable, request)
    return _at(created.table, parts, sender, created.invite, status=201)


@post(
    "/v1/matches/{match:str}/seats",
    status_code=200,
    tags=["tables"],
    opt=says(
        Table,
        body=_NEW_SEAT,
        refuses=(
            *_SITTING,
            errors.TableFull,
            errors.SeatTaken,
            errors.AlreadySeated,
            errors.NotSeated,
            errors.LimitReached,
        ),
    ),
)
async def take_seat(
    match: str, request: AnyRequest, sender: Sender, parts: Parts, body: bytes
) -> Response[bytes]:
    """Sit down. The last seat starts the match, unless the host wants to."""
    wanted = _NEW_SEAT.read(body)
    wish = lobby_pb2.TakeSeatRequest(
        match=match,
        player=sender.player,
        request_id=sender.request_id,
        seat=wanted.seat,
        invite=wanted.invite,
        nonce=wanted.nonce,
        at=now(),
        traceparent=sender.traceparent,
    )
    address = request.scope["state"]["address"]
    with parts.guesses.one(address, sender.player) if wanted.invite else nullcontext():
        taken = await parts.lobby.call(lambda lobby: lobby.TakeSeat, wish)
    return _at(taken.table, parts, sender)


@delete(
    "/v1/matches/{match:str}/seats/me",
    status_code=200,
    tags=["tables"],
    opt=says(
        Table,
        refuses=(*_SITTING, errors.NotSeated),
    ),
)
async def leave_seat(match: str, sender: Sender, parts: Parts) -> Response[bytes]:
    """Get up again, before the match starts. When the host leaves, the table closes."""
    request = lobby_pb2.LeaveSeatRequest(
        match=match,
        player=sender.player,
        request_id=sender.request_id,
        at=now(),
        traceparent=sender.traceparent,
    )
    left = await parts.lobby.call(lambda lobby: lobby.LeaveSeat, request)
    return _at(left.table, parts, sender)


@post(
    "/v1/matches/{match:str}/start",
    status_code=200,
    tags=["tables"],
    opt=says(
        Table,
        refuses=(*_SITTING, errors.TableNotReady, errors.NotAllowed),
    ),
)
async def start_table(match: str, sender: Sender, parts: Parts) -> Response[bytes]:
    """Start the match; for the host, once enough seats are taken. Free seats go."""
    request = lobby_pb2.StartTableRequest(
        match=match,
        player=sender.player,
        request_id=sender.request_id,
        at=now(),
        traceparent=sender.traceparent,
    )
    started = await parts.lobby.call(lambda lobby: lobby.StartTable, request)
    return _at(started.table, parts, sender)


@post(
    "/v1/quick-matches",
    status_code=200,
    tags=["tables"],
    opt=says(Table, body=_QUICK_MATCH, refuses=_OPENING),
)
async def quick_match(sender: Sender, parts: Parts, body: bytes) -> Response[bytes]:
    """A seat at a table that waits for somebody like you, or a new table that waits."""
    wanted = _QUICK_MATCH.read(body)
    request = lobby_pb2.QuickMatchRequest(
        player=sender.player,
        request_id=sender.request_id,
        title=wanted.title,
        options=msgspec.json.encode(wanted.options),
        seats=wanted.seats,
        clock=_clock(wanted.clock),
        nonce=wanted.nonce,
        at=now(),
        traceparent=sender.traceparent,
    )
    found = await parts.lobby.call(lambda lobby: lobby.QuickMatch, request)
    return _at(found.table, parts, sender)


def _clock(clock: Clock | None) -> bytes:
    return b"" if checked(clock) is None else msgspec.json.encode(clock)


def _at(
    table: lobby_pb2.Table, parts: Parts, sender: Sender, invite: str = "", status: int = 200
) -> Response[bytes]:
    if table.status == lobby_pb2.TABLE_STATUS_SEALED:
        parts.places.learn(table)  # most often it is played through the gateway that saw it begin
    headers = {"Location": f"/v1/matches/{table.match}", "Cache-Control": "no-store"}
    return answered(shown(table, sender.player, invite), status, headers)
