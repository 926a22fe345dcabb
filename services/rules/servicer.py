# ruff: noqa: N802 - the methods are named by the proto
"""RulesService over unary calls: each method translates, asks, and translates back. Refusals are raised.

The batches of `services.rules.exchange` run the very same methods.
"""

from typing import Any

from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1.rules_pb2_grpc import RulesServiceServicer

from services.core.ids import MatchId
from services.rules.asked import command_of, issued_of, reader_of, sealed_of
from services.rules.desk import Desk
from services.rules.exchange import Exchange
from services.rules.library import Library
from services.rules.live import Live
from services.rules.published import Published
from services.rules.reads import Reads
from services.rules.start import Starter


class Servicer(RulesServiceServicer):
    """One worker's service. `context` is needed by the stream alone."""

    def __init__(
        self,
        library: Library,
        starter: Starter,
        desk: Desk,
        reads: Reads,
        published: Published,
        live: Live,
    ) -> None:
        self._library = library
        self._starter = starter
        self._desk = desk
        self._reads = reads
        self._published = published
        self.exchange = Exchange(
            {
                "submit_command": self.SubmitCommand,
                "get_match": self.GetMatch,
                "list_legal_moves": self.ListLegalMoves,
                "list_events": self.ListEvents,
                "get_record": self.GetRecord,
            },
            live,
        )

    async def GetTitle(self, request: pb.GetTitleRequest, context: Any = None) -> pb.GetTitleResponse:
        return pb.GetTitleResponse(description=self._library.description)

    async def CheckOptions(
        self, request: pb.CheckOptionsRequest, context: Any = None
    ) -> pb.CheckOptionsResponse:
        options, seats, fewest = self._library.checked(request.options, request.seats)
        return pb.CheckOptionsResponse(options=bytes(options), seats=seats, seats_min=fewest)

    async def StartMatch(self, request: pb.StartMatchRequest, context: Any = None) -> pb.StartMatchResponse:
        return pb.StartMatchResponse(version=await self._starter.start(sealed_of(request)))

    async def SubmitCommand(
        self, request: pb.SubmitCommandRequest, context: Any = None
    ) -> pb.SubmitCommandResponse:
        accepted = await self._desk.carry_out(MatchId(request.match), command_of(request), issued_of(request))
        return pb.SubmitCommandResponse(receipt=accepted.receipt, version=accepted.version)

    async def GetMatch(self, request: pb.GetMatchRequest, context: Any = None) -> pb.GetMatchResponse:
        version = request.version if request.HasField("version") else None
        shown = await self._reads.view(MatchId(request.match), reader_of(request.reader), version)
        return pb.GetMatchResponse(view=shown.view, version=shown.version, seat=shown.seat)

    async def ListLegalMoves(
        self, request: pb.ListLegalMovesRequest, context: Any = None
    ) -> pb.ListLegalMovesResponse:
        reader = reader_of(request.reader)
        page = await self._reads.legal_moves(
            MatchId(request.match), reader, request.page_size, request.page_token
        )
        return pb.ListLegalMovesResponse(page=page)

    async def ListEvents(self, request: pb.ListEventsRequest, context: Any = None) -> pb.ListEventsResponse:
        first, last = getattr(request, "from"), request.to  # `from` is a word of Python's
        page = await self._reads.events(MatchId(request.match), reader_of(request.reader), first, last)
        return pb.ListEventsResponse(page=page)

    async def ListPublishedEvents(
        self, request: pb.ListPublishedEventsRequest, context: Any = None
    ) -> pb.ListPublishedEventsResponse:
        return pb.ListPublishedEventsResponse(
            events=await self._published.after(MatchId(request.match), request.after)
        )

    async def GetRecord(self, request: pb.GetRecordRequest, context: Any = None) -> pb.GetRecordResponse:
        record = await self._reads.record(MatchId(request.match), reader_of(request.reader))
        return pb.GetRecordResponse(record=record)

    # The stub knows handlers that yield; grpc.aio also takes this kind, which reads and writes by itself.
    async def Exchange(self, request_iterator: Any, context: Any) -> None:  # type: ignore[override]
        await self.exchange.serve(context)
