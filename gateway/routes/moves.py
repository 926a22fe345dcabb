"""Commands to a running match: moves, resignations, offers and their answers, an operator's abort."""

from typing import Annotated

from litestar import Response, post
from litestar.params import PathParameter
from msgspec import Meta, Raw, Struct
from waystation.rules.v1 import rules_pb2

from gateway.bodies import Body, passed
from gateway.callers import VERSION_SCHEMA, Guarded, Sender, Version, version_of
from gateway.matches import Command
from gateway.parts import Parts
from gateway.says import AT_A_MATCH, SIGNED, says
from services.core import errors
from services.core.commands import NOTE_MAX
from services.core.ids import MatchId
from services.core.shown import Receipt

PathVersion = Annotated[str, PathParameter(schema_extra=VERSION_SCHEMA)]


class NewMove(Struct, frozen=True, forbid_unknown_fields=True):
    """`move`: by the title's schema. `expected_version`: the version of the match that you look at."""

    move: Raw
    expected_version: Version


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether you agree."""

    accept: bool


class AbortNote(Struct, frozen=True, forbid_unknown_fields=True):
    """Why, for the players."""

    note: Annotated[str, Meta(max_length=NOTE_MAX)] = ""


NEW_MOVE = Body(NewMove)
_ANSWER = Body(Answer)
_ABORT_NOTE = Body(AbortNote)

_MOVING = (errors.MoveUnreadable, errors.MoveIllegal, errors.NotYourTurn, errors.ClockExpired)
_COMMAND = (*SIGNED, *AT_A_MATCH, errors.MatchOver, errors.VersionConflict, errors.RequestIdReused)


@post(
    "/v1/matches/{match:str}/moves",
    status_code=200,
    tags=["play"],
    opt=says(
        Receipt,
        body=NEW_MOVE,
        refuses=(*_COMMAND, *_MOVING),
    ),
)
async def submit_move(match: str, sender: Sender, parts: Parts, body: bytes) -> Response[bytes]:
    """Make a move. The receipt means that it is stored; it shows the match after the move."""
    made = NEW_MOVE.read(body)
    guarded = Guarded(sender, made.expected_version)
    return await _submit(parts, guarded, match, rules_pb2.SubmitMove(move=bytes(made.move)))


@post(
    "/v1/matches/{match:str}/resignation", status_code=200, tags=["play"], opt=says(Receipt, refuses=_COMMAND)
)
async def resign(match: str, guarded: Guarded, parts: Parts) -> Response[bytes]:
    """Give the match up; all other seats win."""
    return await _submit(parts, guarded, match, rules_pb2.Resign())


@post(
    "/v1/matches/{match:str}/draw-offers",
    status_code=200,
    tags=["play"],
    opt=says(
        Receipt,
        refuses=(*_COMMAND, errors.OfferOpen, errors.NoMoreOffers),
    ),
)
async def offer_draw(match: str, guarded: Guarded, parts: Parts) -> Response[bytes]:
    """Offer a draw. The offer goes by the receipt's version and stands until an answer or a move."""
    return await _submit(parts, guarded, match, rules_pb2.OfferDraw())


@post(
    "/v1/matches/{match:str}/draw-offers/{offer:str}/answer",
    status_code=200,
    tags=["play"],
    opt=says(
        Receipt,
        body=_ANSWER,
        refuses=(*_COMMAND, errors.NothingToAnswer),
    ),
)
async def answer_draw(
    match: str, offer: PathVersion, guarded: Guarded, parts: Parts, body: bytes
) -> Response[bytes]:
    """Accept or decline the draw offered at version `offer`."""
    command = rules_pb2.AnswerDraw(offer=version_of(offer, "offer"), accept=_ANSWER.read(body).accept)
    return await _submit(parts, guarded, match, command)


@post(
    "/v1/matches/{match:str}/takebacks",
    status_code=200,
    tags=["play"],
    opt=says(
        Receipt,
        refuses=(*_COMMAND, errors.TakebackRefused, errors.OfferOpen, errors.NoMoreOffers),
    ),
)
async def request_takeback(match: str, guarded: Guarded, parts: Parts) -> Response[bytes]:
    """Ask to take your last move back; the request goes by the receipt's version."""
    return await _submit(parts, guarded, match, rules_pb2.RequestTakeback())


@post(
    "/v1/matches/{match:str}/takebacks/{takeback:str}/answer",
    status_code=200,
    tags=["play"],
    opt=says(
        Receipt,
        body=_ANSWER,
        refuses=(*_COMMAND, errors.NothingToAnswer),
    ),
)
async def answer_takeback(
    match: str, takeback: PathVersion, guarded: Guarded, parts: Parts, body: bytes
) -> Response[bytes]:
    """Accept or decline the takeback requested at version `takeback`."""
    command = rules_pb2.AnswerTakeback(
        request=version_of(takeback, "takeback"), accept=_ANSWER.read(body).accept
    )
    return await _submit(parts, guarded, match, command)


@post(
    "/v1/matches/{match:str}/abort",
    status_code=200,
    tags=["operators"],
    opt=says(
        Receipt,
        body=_ABORT_NOTE,
        refuses=(*_COMMAND, errors.NotAllowed),
    ),
)
async def abort(match: str, operator: Sender, parts: Parts, body: bytes) -> Response[bytes]:
    """End a match without a winner; needs an operator's token."""
    command = rules_pb2.Abort(note=_ABORT_NOTE.read(body).note)
    return await _submit(parts, Guarded(operator, None), match, command)


async def _submit(parts: Parts, guarded: Guarded, match: str, command: Command) -> Response[bytes]:
    receipt = await parts.matches.submit(guarded.sender, MatchId(match), command, guarded.expected_version)
    return passed(receipt.body, headers={"ETag": f'"{receipt.version}"', "Cache-Control": "no-store"})
