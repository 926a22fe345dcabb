"""Matches that have begun: every question and command goes to a worker of the title, as bytes in and out."""

from typing import NamedTuple

from waystation.rules.v1 import rules_pb2

from gateway.callers import Reader, Sender, now
from gateway.places import Place, Places
from gateway.workers import Workers
from services.core.errors import NoSuchMatch, NotStarted
from services.core.ids import MatchId, PlayerId

Call = rules_pb2.Call
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
    """All methods raise NoSuchMatch, NotStarted, NotSeated, and what `Workers.ask` raises."""

    def __init__(self, places: Places, workers: Workers) -> None:
        self._places = places
        self._workers = workers

    async def submit(
        self, sender: Sender, match: MatchId, command: Command, expected_version: int | None = None
    ) -> Answered:
        """The receipt of an accepted command."""
        place = await self._places.begun(match)
        request = rules_pb2.SubmitCommandRequest(
            match=match,
            player=sender.player,
            request_id=sender.request_id,
            expected_version=expected_version,
            at=now(),
            traceparent=sender.traceparent,
        )
        getattr(request, _FIELDS[type(command)]).CopyFrom(command)
        answer = (await self._ask(place, Call(submit_command=request))).submit_command
        return Answered(answer.receipt, answer.version)

    async def view(self, reader: Reader, match: MatchId, version: int | None = None) -> Answered:
        """The match as the reader may see it, now or at a version. Raises NoSuchVersion."""
        place = await self._places.begun(match)
        request = rules_pb2.GetMatchRequest(
            match=match, reader=await self._admitted(place, reader), version=version
        )
        answer = (await self._ask(place, Call(get_match=request))).get_match
        return Answered(answer.view, answer.version)

    async def legal_moves(self, reader: Reader, match: MatchId, page_size: int, page_token: str) -> bytes:
        """A page of what the reader's seat may do now. Raises VersionConflict for a token of the past."""
        place = await self._places.begun(match)
        request = rules_pb2.ListLegalMovesRequest(
            match=match,
            reader=await self._admitted(place, reader),
            page_size=page_size,
            page_token=page_token,
        )
        return (await self._ask(place, Call(list_legal_moves=request))).list_legal_moves.page

    async def events(self, reader: Reader, match: MatchId, first: int = 0, last: int = 0) -> bytes:
        """A page of events from version `first` to `last`; 0 is the beginning and the end."""
        place = await self._places.begun(match)
        request = rules_pb2.ListEventsRequest(
            match=match, reader=await self._admitted(place, reader), to=last, **{"from": first}
        )
        return (await self._ask(place, Call(list_events=request))).list_events.page

    async def record(self, reader: Reader, match: MatchId) -> bytes:
        """Raises NotOver while the match runs."""
        place = await self._places.begun(match)
        request = rules_pb2.GetRecordRequest(match=match, reader=await self._admitted(place, reader))
        return (await self._ask(place, Call(get_record=request))).get_record.record

    async def _admitted(self, place: Place, reader: Reader) -> rules_pb2.Reader:
        by_invitation = await self._places.admit(place, reader.player, reader.invite)
        return rules_pb2.Reader(player=reader.player or PlayerId(""), admitted=by_invitation)

    async def _ask(self, place: Place, call: Call) -> rules_pb2.Answer:
        try:
            return await self._workers.ask(place, call)
        except NoSuchMatch:
            # The table is sealed, so there will be a match: the lobby's sweeper repeats the start.
            raise NotStarted from None
