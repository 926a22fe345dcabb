"""Asking the owner of a stream for events that the bus did not bring: the title's worker, or the lobby."""

from collections.abc import Sequence

from waystation.events.v1.events_pb2 import PublishedEvent
from waystation.lobby.v1 import lobby_pb2
from waystation.lobby.v1.lobby_pb2_grpc import LobbyServiceStub
from waystation.rules.v1 import rules_pb2
from waystation.rules.v1.rules_pb2_grpc import RulesServiceStub

from services.core.errors import TitleDown
from services.core.ids import MatchId, StreamName, stream_match
from services.kit.channels import Channels
from services.kit.directory import Directory

_TIMEOUT_S = 5.0


class Sources:
    """The other services, as far as the projection needs them."""

    def __init__(self, directory: Directory, channels: Channels) -> None:
        self._directory = directory
        self._channels = channels

    async def missing(self, title: str, stream: StreamName, after: int) -> Sequence[PublishedEvent]:
        """All events of `stream` after a version. Raises TitleDown, ServiceDown or Deadline."""
        match = stream_match(stream)
        if stream.startswith("table/"):
            return await self._table_events(match, after)
        found: list[PublishedEvent] = []
        while page := await self.match_page(title, match, after):
            found += page
            after = page[-1].version
        return found

    async def match_page(self, title: str, match: MatchId, after: int) -> Sequence[PublishedEvent]:
        """The next events of a match; none at the end. Raises as `missing` does."""
        request = rules_pb2.ListPublishedEventsRequest(match=match, after=after)
        tried: list[str] = []
        while True:
            tried.append(self._directory.pick(title, match, avoid=tried))
            stub = self._channels.stub(RulesServiceStub, tried[-1])
            try:
                response = await self._channels.call(
                    stub.ListPublishedEvents, request, _TIMEOUT_S, f"rules-{title}"
                )
            except TitleDown:  # this worker lacks the match's rules version, or goes: the next one may not
                if all(worker.address in tried for worker in self._directory.workers(title)):
                    raise
            else:
                return response.events

    async def tables(self, matches: Sequence[MatchId]) -> Sequence[PublishedEvent]:
        """All events of the tables, at most 64 of them, table by table. Raises as `missing` does."""
        stub = self._channels.stub(
            LobbyServiceStub, self._directory.service("lobby", matches[0] if matches else "")
        )
        found: list[PublishedEvent] = []
        while matches:
            request = lobby_pb2.BatchListPublishedEventsRequest(matches=matches)
            response = await self._channels.call(stub.BatchListPublishedEvents, request, _TIMEOUT_S, "lobby")
            found += response.events
            matches = matches[response.tables :]
        return found

    async def _table_events(self, match: MatchId, after: int) -> Sequence[PublishedEvent]:
        stub = self._channels.stub(LobbyServiceStub, self._directory.service("lobby", match))
        request = lobby_pb2.ListPublishedEventsRequest(match=match, after=after)
        response = await self._channels.call(stub.ListPublishedEvents, request, _TIMEOUT_S, "lobby")
        return response.events
