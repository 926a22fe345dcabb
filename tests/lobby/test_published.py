"""What leaves the lobby for read models: the chain, and nothing that a spectator may not know."""

import msgspec
import pytest
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import BadRequest, NoSuchMatch, NoSuchVersion
from services.core.events import genesis
from services.core.ids import MatchId, table_stream
from services.lobby.published import TABLES_MAX, published
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


async def test_many_tables_are_told_of_at_once_as_each_is_alone(site: Site) -> None:
    ann = site.player("ann")
    matches = [await _busy_table(site), str((await ann.creates()).table.match)]
    told = await ann.published_many(*matches)
    alone = [event for match in matches for event in (await ann.published(match)).events]
    assert (told.tables, list(told.events)) == (2, alone)


async def test_an_answer_holds_as_many_whole_tables_as_fit_and_always_one(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = site.player("ann")
    busy = await _busy_table(site)
    matches = [busy, str((await ann.creates()).table.match), busy]
    monkeypatch.setattr("services.lobby.published.EVENTS_MAX", 7)
    assert [(await ann.published_many(*matches[first:])).tables for first in (0, 1, 2)] == [2, 2, 1]
    monkeypatch.setattr("services.lobby.published.EVENTS_MAX", 2)
    told = await ann.published_many(*matches)
    assert (told.tables, len(told.events)) == (1, 6)


@pytest.mark.parametrize("number", [0, TABLES_MAX + 1])
async def test_no_tables_and_too_many_are_refused(site: Site, number: int) -> None:
    match = (await site.player("ann").creates()).table.match
    with pytest.raises(BadRequest):
        await site.player("ann").published_many(*[match] * number)


async def test_a_table_that_is_not_there_is_named_among_many(site: Site) -> None:
    match = (await site.player("ann").creates()).table.match
    with pytest.raises(NoSuchMatch, match="nowhere"):
        await site.player("ann").published_many(match, "nowhere")
