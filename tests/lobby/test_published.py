"""What leaves the lobby for read models: the chain, and nothing that a spectator may not know."""

import msgspec
import pytest
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import NoSuchVersion
from services.core.events import genesis
from services.core.ids import MatchId, table_stream
from services.lobby.published import published
from tests.lobby.hosting import Site

pytestmark = pytest.mark.anyio


async def _busy_table(site: Site) -> str:
    """Private, with every kind of event but a closing one, and nonces at every seat."""
    created = await site.player("ann").creates("req-ann", seats=3, private=True, nonce="salt-of-ann")
    match, invite = created.table.match, created.invite
    for name in ("bob", "cara"):
        await site.player(name).takes(match, f"req-{name}", invite=invite, nonce=f"salt-of-{name}")
        if name == "bob":
            await site.player(name).leaves(match, "req-leave")
    await site.player("dan").takes(match, invite=invite, nonce="salt-of-dan")
    return str(match)


async def test_events_are_told_in_order_with_the_chain_that_binds_them(site: Site) -> None:
    match = await _busy_table(site)
    events = (await site.player("ann").published(match)).events
    kinds = [msgspec.json.decode(event.event)["type"] for event in events]
    assert kinds == ["table_created", "seat_taken", "seat_left", "seat_taken", "seat_taken", "table_sealed"]
    assert [event.version for event in events] == [1, 2, 3, 4, 5, 6]
    before = genesis(table_stream(MatchId(match)))
    for event in events:
        assert event.previous_hash == before
        assert (event.stream, event.title) == (f"table/{match}", "high_card")
        before = event.hash
    assert (await site.player("ann").published(match, after=4)).events == events[4:]


async def test_nonces_invite_and_request_ids_stay_inside(site: Site) -> None:
    match = await _busy_table(site)
    stored = b"".join([bytes(event.data) for event in await site.events(match)])
    told = b"".join(event.SerializeToString() for event in (await site.player("x").published(match)).events)
    for secret in (b"salt-of-", b"invite", b"nonce", b"req-", b"fingerprint"):
        assert secret not in told
    assert b"salt-of-ann" in stored


async def test_what_is_told_at_once_equals_what_is_told_later(site: Site) -> None:
    match = await _busy_table(site)
    at_once = [published(stored) for stored in site.told]
    assert at_once == list((await site.player("ann").published(match)).events)
    stream = table_stream(MatchId(match))
    for event in at_once:
        payload = await site.lobbies[0].published.payload(stream, event.version)
        assert PublishedEvent.FromString(payload) == event
    with pytest.raises(NoSuchVersion):
        await site.lobbies[0].published.payload(stream, 7)
