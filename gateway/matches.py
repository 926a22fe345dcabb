"""Matches that have begun: every question and command goes to a worker of the title, as bytes in and out."""

from typing import NamedTuple

from waystation.rules.v1 import rules_pb2

from gateway.callers import Reader, Sender, moment
from gateway.places import Place, Places
from gateway.workers import Workers
from services.core.errors import NoSuchMatch, NotStarted
from services.core.ids import MatchId, PlayerId
from services.kit import tracing

Call = rules_pb2.Call
Eyes = rules_pb2.Reader
Command = (
    rules_pb2.SubmitMove
    | rules_pb2.Resign
    | rules_pb2.OfferDraw
    | rules_pb2.AnswerDraw
    | rules_pb2.RequestTakeback
    | rules_pb2.AnswerTakeback
    | rules_pb2.Abort
)

# The field of SubmitCommandRequest's oneof that carries each command.
_FIELDS: dict[type, str] = {
    rules_pb2.SubmitMove: "submit_move",
    rules_pb2.Resign: "resign",
    rules_pb2.OfferDraw: "offer_draw",
    rules_pb2.AnswerDraw: "answer_draw",
    rules_pb2.RequestTakeback: "request_takeback",
    rules_pb2.AnswerTakeback: "answer_takeback",
    rules_pb2.Abort: "abort",
}


class Answered(NamedTuple):
    """JSON as the worker wrote it, and the version it speaks of."""

    body: bytes
    version: int


class Matches:
    """Questions take the eyes they are asked with, which `eyes` gives to whoever may have them.

    All methods raise NoSuchMatch, NotStarted, and what `Workers.ask` raises.
    """

    def __init__(self, places: Places, workers: Workers) -> None:
        self._places = places
        self._workers = workers

    async def eyes(self, match: MatchId, reader: Reader) -> Eyes:
        """How `reader` may look at the match. Raises NotSeated for a stranger at a private match."""
        place = await self._places.begun(match)
        by_invitation = await self._places.admit(place, reader)
        return Eyes(player=reader.player or PlayerId(""), admitted=by_invitation)

    async def submit(
        self, sender: Sender, match: MatchId, command: Command, expected_version: int | None = None
    ) -> Answered:
        """The receipt of an accepted command."""
        call = Call()
        request = call.submit_command  # filled in its place: messages that are passed on are copied
        request.match = match
        request.player = sender.player
        request.request_id = sender.request_id
        request.traceparent = sender.traceparent
        if expected_version is not None:
            request.expected_version = expected_version
        request.at.seconds, request.at.nanos = moment()
        getattr(request, _FIELDS[type(command)]).CopyFrom(command)
        answer = (await self._ask(match, call)).submit_command
        return Answered(answer.receipt, answer.version)

    async def view(self, match: MatchId, eyes: Eyes, version: int | None = None) -> Answered:
        """The match now or at a version. Raises NoSuchVersion."""
        request = rules_pb2.GetMatchRequest(match=match, reader=eyes, version=version)
        answer = (await self._ask(match, Call(get_match=request))).get_match
        return Answered(answer.view, answer.version)

    async def legal_moves(self, match: MatchId, eyes: Eyes, page_size: int, page_token: str) -> bytes:
        """A page of what the reader's seat may do now. Raises VersionConflict for a token of the past."""
        request = rules_pb2.ListLegalMovesRequest(
            match=match, reader=eyes, page_size=page_size, page_token=page_token
        )
        return (await self._ask(match, Call(list_legal_moves=request))).list_legal_moves.page

    async def events(self, match: MatchId, eyes: Eyes, first: int = 0, last: int = 0) -> bytes:
        """A page of events from version `first` to `last`; 0 is the beginning and the end."""
        request = rules_pb2.ListEventsRequest(match=match, reader=eyes, to=last, **{"from": first})
        return (await self._ask(match, Call(list_events=request))).list_events.page

    async def record(self, match: MatchId, eyes: Eyes) -> bytes:
        """Raises NotOver while the match runs."""
        request = rules_pb2.GetRecordRequest(match=match, reader=eyes)
        return (await self._ask(match, Call(get_record=request))).get_record.record

    async def _ask(self, match: MatchId, call: Call) -> rules_pb2.Answer:
        place = await self._places.begun(match)
        try:
            with tracing.span("rules", "client", title=place.title) as span:
                call.traceparent = span.traceparent
                return await self._workers.ask(place, call)
        except NoSuchMatch:
            # The table is sealed, so there will be a match: the lobby's sweeper repeats the start.
            raise NotStarted from None


def eyes_of(place: Place, seat: int | None) -> Eyes:
    """The eyes of a seat, or of the spectators of a match: only for audiences whose members were admitted."""
    player = next((player for player, at in place.seats.items() if at == seat), PlayerId(""))
    return Eyes(player=player, admitted=seat is None)
