import random

import msgspec
import pytest

from services.core.commands import OfferDraw, Resign
from services.core.errors import (
    BadRequest,
    HistoryCorrupt,
    NoSuchMatch,
    NoSuchVersion,
    NotOver,
    NotSeated,
    VersionConflict,
)
from services.core.ids import match_stream
from services.core.record import read_record, verify
from services.core.shown import show_match
from services.kit.redis_keys import stream_key
from services.rules import reads
from services.rules.published import published
from tests.rules.hosting import ANN, BOB, STRANGER, entries_of, folded, reader, started

pytestmark = pytest.mark.anyio


def as_json(value):
    return msgspec.json.decode(msgspec.json.encode(value))


async def legal_moves(host, match, player, size=0, token=""):
    return msgspec.json.decode(await host.reads.legal_moves(match, reader(player), size, token))


async def events(host, match, player, first=0, last=0):
    return msgspec.json.decode(await host.reads.events(match, reader(player), first, last))


async def test_the_view_at_every_version_is_that_of_the_fold_up_to_it(host, match):
    there = await host.plays(match, random.Random(1))
    for version in range(1, there.version + 1):
        then = await folded(host, match, until=version)
        for player, seat in ((ANN, 0), (BOB, 1), (STRANGER, None), (None, None)):
            shown = await host.reads.view(match, reader(player), version)
            assert (shown.version, shown.seat) == (version, seat)
            assert msgspec.json.decode(shown.view) == as_json(show_match(then, seat))


@pytest.mark.parametrize("version", [0, -1, 4, 10**15])
async def test_a_version_the_match_does_not_have_is_refused_with_its_head(host, match, version):
    await host.plays(match, random.Random(1), moves=2)
    with pytest.raises(NoSuchVersion) as refusal:
        await host.reads.view(match, reader(ANN), version)
    assert (refusal.value.version, refusal.value.head) == (version, 3)


async def test_what_another_worker_stored_is_shown_at_once(host, rival, match):
    for number in range(3):
        await rival.plays(match, random.Random(number), moves=1)
        assert (await host.reads.view(match, reader(ANN), None)).version == number + 2


async def test_reading_an_earlier_version_leaves_the_match_at_hand_as_it_is(host, match):
    await host.plays(match, random.Random(1), moves=3)
    await host.reads.view(match, reader(ANN), 2)
    assert host.shelf.find(match).version == 4


async def test_a_table_that_has_not_started_is_no_match(host, new_match):
    with pytest.raises(NoSuchMatch):
        await host.reads.view(new_match(), reader(ANN), None)


async def test_a_private_match_is_shown_to_seats_and_to_the_admitted_only(host, new_match):
    match = await started(host, new_match(), private=True)
    asked = (
        lambda who: host.reads.view(match, who, None),
        lambda who: host.reads.view(match, who, 1),
        lambda who: host.reads.legal_moves(match, who, 0, ""),
        lambda who: host.reads.events(match, who, 0, 0),
        lambda who: host.reads.record(match, who),
    )
    await host.does(match, ANN, Resign())
    for ask in asked:
        for outsider in (reader(STRANGER), reader(None)):
            with pytest.raises(NotSeated):
                await ask(outsider)
        await ask(reader(BOB))
        await ask(reader(STRANGER, admitted=True))


async def test_an_admitted_stranger_sees_what_a_spectator_sees(host, new_match):
    match = await started(host, new_match(), private=True)
    shown = await host.reads.view(match, reader(STRANGER, admitted=True), None)
    assert msgspec.json.decode(shown.view) == as_json(show_match(await folded(host, match), None))


async def test_pages_of_legal_moves_hold_each_move_once_and_in_order(host, match):
    whole = await legal_moves(host, match, ANN)
    assert (whole["total"], whole["next"], whole["version"], whole["seat"]) == (2, None, 1, 0)
    first = await legal_moves(host, match, ANN, size=1)
    second = await legal_moves(host, match, ANN, size=1, token=first["next"])
    assert first["choices"] + second["choices"] == whole["choices"]
    assert (first["total"], second["total"], second["next"]) == (2, 2, None)


async def test_a_legal_move_comes_with_its_notation(host, match):
    cards = sorted((await host.now(match)).state.hands[0])
    page = await legal_moves(host, match, ANN)
    assert page["choices"] == [
        {"move": {"type": "play", "card": card}, "notation": f"p{card}"} for card in cards
    ]


async def test_a_page_of_a_version_that_has_passed_is_refused(host, match):
    token = (await legal_moves(host, match, ANN, size=1))["next"]
    await host.does(match, ANN, OfferDraw())
    with pytest.raises(VersionConflict) as refusal:
        await legal_moves(host, match, ANN, size=1, token=token)
    assert (refusal.value.expected, refusal.value.actual) == (1, 2)


@pytest.mark.parametrize("token", ["1", "-", "1-", "-1", "a-b", "1-1-1", "1-²", "1-" + "9" * 5000])
async def test_a_token_that_no_page_gave_is_refused(host, match, token):
    with pytest.raises(BadRequest):
        await legal_moves(host, match, ANN, token=token)


async def test_who_may_not_move_has_no_legal_moves(host, match):
    for player, seat in ((BOB, 1), (STRANGER, None)):
        page = await legal_moves(host, match, player)
        assert (page["seat"], page["choices"], page["total"]) == (seat, [], 0)
    await host.does(match, BOB, Resign())
    assert (await legal_moves(host, match, ANN))["total"] == 0


async def test_events_come_page_by_page_without_a_gap(host, match, monkeypatch):
    monkeypatch.setattr(reads, "EVENTS_MAX", 3)
    there = await host.plays(match, random.Random(2))
    versions, first = [], 0
    while first is not None:
        page = await events(host, match, ANN, first)
        assert len(page["events"]) <= 3
        versions += [event["version"] for event in page["events"]]
        first = page["next"]
    assert versions == list(range(1, there.version + 1))


@pytest.mark.parametrize(
    ("first", "last", "versions"),
    [(2, 3, [2, 3]), (4, 0, [4, 5]), (5, 99, [5]), (6, 0, []), (4, 2, []), (0, 1, [1])],
)
async def test_events_are_those_between_the_versions_asked_for(host, match, first, last, versions):
    await host.plays(match, random.Random(3), moves=4)
    page = await events(host, match, BOB, first, last)
    assert ([event["version"] for event in page["events"]], page["next"]) == (versions, None)


async def test_events_below_version_zero_are_refused(host, match):
    for first, last in ((-1, 0), (0, -1)):
        with pytest.raises(BadRequest):
            await events(host, match, ANN, first, last)


async def test_an_entry_that_is_missing_at_the_end_of_a_page_is_damage_and_no_lost_tail(host, match):
    await host.plays(match, random.Random(1), moves=4)
    await host.store.link.call("XDEL", stream_key(match_stream(match)), "3-0")
    with pytest.raises(HistoryCorrupt, match="missing") as caught:
        await host.reads.events(match, reader(ANN), 1, 3)
    assert caught.value.version == 3


async def test_luck_is_shown_in_events_only_after_the_end(host, match):
    await host.plays(match, random.Random(4), moves=5)
    running = await events(host, match, ANN)
    assert not any("chance" in event["data"] or "salt" in event for event in running["events"])
    await host.does(match, ANN, Resign())
    over = await events(host, match, ANN)
    assert "chance" in over["events"][0]["data"]
    assert all("salt" in event for event in over["events"])


async def test_a_request_id_is_shown_to_its_owner_only(host, match):
    await host.does(match, ANN, OfferDraw(), request_id="anns")
    assert (await events(host, match, ANN, 2))["events"][0]["request_id"] == "anns"
    for other in (BOB, STRANGER, None):
        assert "request_id" not in (await events(host, match, other, 2))["events"][0]


async def test_the_record_of_a_running_match_is_sealed(host, match):
    with pytest.raises(NotOver):
        await host.reads.record(match, reader(ANN))


async def test_the_record_of_a_finished_match_proves_every_version(host, match):
    there = await host.plays(match, random.Random(5))
    record = read_record(await host.reads.record(match, reader(None)))
    steps = verify(record, host.library.ruleset_for)
    assert [step.event.version for step in steps] == list(range(1, there.version + 1))
    assert steps[-1].match.state == there.state


async def test_published_events_are_told_again_exactly_as_they_were_told(host, rival, match):
    there = await host.plays(match, random.Random(6))
    told = [message.SerializeToString(deterministic=True) for message in map(published, host.told)]
    again = await rival.published.after(match, 0)
    assert [message.SerializeToString(deterministic=True) for message in again] == told
    assert len(told) == there.version
    for news, message in zip(host.told, told, strict=True):
        assert await rival.published.payload(f"match/{match}", news.event.version) == message


async def test_published_events_chain_by_their_hashes(host, match):
    await host.plays(match, random.Random(7), moves=4)
    messages = await host.published.after(match, 1)
    assert [message.version for message in messages] == [2, 3, 4, 5]
    entries = await entries_of(host.store, match)
    assert [message.hash for message in messages] == [entry.hash for entry in entries[1:]]
    assert [message.previous_hash for message in messages] == [entry.hash for entry in entries[:-1]]
    assert await host.published.after(match, 5) == []
