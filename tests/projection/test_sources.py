import pytest
from waystation.events.v1.events_pb2 import PublishedEvent
from waystation.rules.v1.rules_pb2 import ListPublishedEventsResponse
from waystation.rules.v1.rules_pb2_grpc import RulesServiceServicer, add_RulesServiceServicer_to_server

from services.core.ids import StreamName
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


Owner.__abstractmethods__ = frozenset()  # the other methods are not served here


class Everywhere:
    """A directory in which one address serves every title."""

    def __init__(self, address):
        self.address = address

    def pick(self, title, match):
        return self.address


@pytest.mark.parametrize("after", [0, 4, 10, VERSIONS])
async def test_what_is_missing_is_read_to_the_end_however_many_pages_it_has(after):
    server, channels = RpcServer(ServiceSettings(), "probe"), Channels()
    server.add(add_RulesServiceServicer_to_server, Owner(), "waystation.rules.v1.RulesService")
    port = await server.start()
    try:
        sources = Sources(Everywhere(f"127.0.0.1:{port}"), channels)
        found = await sources.missing("any", StreamName("match/m"), after)
    finally:
        await channels.close()
        await server.stop(0)
    assert [event.version for event in found] == list(range(after + 1, VERSIONS + 1))
