import pytest
from waystation.events.v1.events_pb2 import PublishedEvent
from waystation.lobby.v1.lobby_pb2 import BatchListPublishedEventsResponse
from waystation.lobby.v1.lobby_pb2_grpc import LobbyServiceServicer, add_LobbyServiceServicer_to_server
from waystation.rules.v1.rules_pb2 import ListPublishedEventsResponse
from waystation.rules.v1.rules_pb2_grpc import RulesServiceServicer, add_RulesServiceServicer_to_server

from services.core.ids import MatchId, StreamName
from services.kit.channels import Channels
from services.kit.rpc_server import RpcServer
from services.kit.settings import ServiceSettings
from services.projection.sources import Sources

pytestmark = pytest.mark.anyio

PAGE, VERSIONS = 5, 12


class Owner(RulesServiceServicer):
    """Tells of a match in pages, as a worker does."""

    async def ListPublishedEvents(self, request, context):  # noqa: N802 - named by the proto
        last = min(request.after + PAGE, VERSIONS)
        events = [PublishedEvent(version=version) for version in range(request.after + 1, last + 1)]
        return ListPublishedEventsResponse(events=events)


class Tables(LobbyServiceServicer):
    """Tells of two tables at a time, however many it is asked about."""

    async def BatchListPublishedEvents(self, request, context):  # noqa: N802 - named by the proto
        told = request.matches[:2]
        events = [PublishedEvent(stream=f"table/{match}") for match in told]
        return BatchListPublishedEventsResponse(events=events, tables=len(told))


Tables.__abstractmethods__ = frozenset()
Owner.__abstractmethods__ = frozenset()  # the other methods are not served here


class Everywhere:
    """A directory in which one address serves every title."""

    def __init__(self, address):
        self.address = address
        self.keys = []  # by which a lobby was chosen

    def pick(self, title, match, avoid=()):
        return self.address

    def service(self, name, key=""):
        self.keys.append(key)
        return self.address


@pytest.fixture
async def everywhere():
    return Everywhere("")


@pytest.fixture
async def sources(everywhere):
    server, channels = RpcServer(ServiceSettings(), "probe"), Channels()
    server.add(add_RulesServiceServicer_to_server, Owner(), "waystation.rules.v1.RulesService")
    server.add(add_LobbyServiceServicer_to_server, Tables(), "waystation.lobby.v1.LobbyService")
    everywhere.address = f"127.0.0.1:{await server.start()}"
    yield Sources(everywhere, channels)
    await channels.close()
    await server.stop(0)


@pytest.mark.parametrize("after", [0, 4, 10, VERSIONS])
async def test_what_is_missing_is_read_to_the_end_however_many_pages_it_has(sources, after):
    found = await sources.missing("any", StreamName("match/m"), after)
    assert [event.version for event in found] == list(range(after + 1, VERSIONS + 1))


@pytest.mark.parametrize("number", [1, 2, 5])
async def test_tables_that_do_not_fit_into_an_answer_are_asked_for_again(sources, number):
    matches = [MatchId(f"m{place}") for place in range(number)]
    found = await sources.tables(matches)
    assert [event.stream for event in found] == [f"table/{match}" for match in matches]


async def test_tables_are_asked_for_of_a_lobby_chosen_by_their_match(sources, everywhere):
    await sources.tables([MatchId("m1"), MatchId("m2")])
    await sources.tables([MatchId("m2")])
    assert everywhere.keys == ["m1", "m2"]
