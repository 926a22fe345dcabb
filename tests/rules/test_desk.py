import asyncio
import random

import msgspec
import pytest
from msgspec import Raw

from services.core.commands import AnswerDraw, OfferDraw, Resign, SubmitMove
from services.core.errors import (
    HistoryCorrupt,
    MatchOver,
    MoveIllegal,
    MoveUnreadable,
    NoSuchMatch,
    NotSeated,
    NotYourTurn,
    RequestIdReused,
    TitleDown,
    VersionConflict,
)
from services.core.events import text_of
from services.core.ids import MatchId, match_stream
from services.core.shown import show_match
from services.kit.redis_keys import stream_key
from services.kit.store import Append
from services.kit.telemetry import APPEND_CONFLICTS
from services.rules.desk import RACES_MAX
from services.rules.library import Library
from tests.rules.hosting import (
    ANN,
    BOB,
    PLAYERS,
    STRANGER,
    TOY_LIBRARY,
    Host,
    any_move,
    entries_of,
    events_in,
    folded,
    started,
)
from tests.toy.titles.high_card import VERSIONS as TOY

pytestmark = pytest.mark.anyio


async def test_a_move_is_stored_and_its_receipt_is_the_head_and_the_movers_view(host, match):
    move = any_move(await host.now(match), 0, random.Random(1))
    accepted = await host.does(match, ANN, SubmitMove(move=move, expected_version=1))
    there = await folded(host, match)
    assert accepted.version == there.version == 2
    assert msgspec.json.decode(accepted.receipt) == {
        "match": match,
        "version": 2,
        "head": text_of(there.head),
        "view": msgspec.json.decode(msgspec.json.encode(show_match(there, 0))),
    }


async def test_versions_are_contiguous_and_what_is_at_hand_is_what_the_stream_folds_to(host, match):
    at_hand = await host.plays(match, random.Random(2))
    entries = await entries_of(host.store, match)
    assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
    assert at_hand.outcome is not None
    there = await folded(host, match)
    assert (there.state, there.head, there.answered) == (at_hand.state, at_hand.head, at_hand.answered)


async def test_everything_stored_is_published_once_and_in_order(host, match):
    there = await host.plays(match, random.Random(3))
    assert [news.event.version for news in host.told] == list(range(1, there.version + 1))
    assert [news.entry for news in host.told] == list(await entries_of(host.store, match))


@pytest.mark.parametrize(
    ("player", "command", "refusal"),
    [
        (BOB, SubmitMove(move=Raw(b'{"type":"play","card":1}')), NotYourTurn),
        (ANN, SubmitMove(move=Raw(b'{"type":"play","card":77}')), MoveIllegal),
        (ANN, SubmitMove(move=Raw(b'{"type":"fly"}')), MoveUnreadable),
        (ANN, SubmitMove(move=Raw(b"\xff{")), MoveUnreadable),
        (STRANGER, Resign(), NotSeated),
        (ANN, Resign(expected_version=7), VersionConflict),
    ],
)
async def test_a_refused_command_stores_nothing_and_tells_nobody(host, match, player, command, refusal):
    with pytest.raises(refusal):
        await host.does(match, player, command)
    assert len(await entries_of(host.store, match)) == len(host.told) == 1


async def test_a_stale_version_is_refused_and_nothing_is_stored(host, rival, match):
    await rival.does(match, ANN, OfferDraw())
    with pytest.raises(VersionConflict) as refusal:
        await host.does(match, ANN, Resign(expected_version=1))
    assert (refusal.value.expected, refusal.value.actual) == (1, 2)
    assert len(await entries_of(host.store, match)) == 2


async def test_nothing_follows_the_end(host, match):
    await host.does(match, ANN, Resign())
    with pytest.raises(MatchOver):
        await host.does(match, BOB, Resign())
    assert len(await entries_of(host.store, match)) == 2


async def test_an_unknown_match_is_refused(host, new_match):
    with pytest.raises(NoSuchMatch):
        await host.does(new_match(), ANN, Resign())


async def test_two_desks_that_alternate_never_fork_and_meet_each_others_moves(host, rival, match):
    rng = random.Random(4)
    desks = [host, rival]
    for turn in range(1000):
        there = await folded(host, match)  # the desks do not look: what they hold is stale by one move
        if not there.to_act:
            break
        seat = rng.choice(sorted(there.to_act))
        await desks[turn % 2].does(match, PLAYERS[seat], SubmitMove(move=any_move(there, seat, rng)))
    entries = await entries_of(host.store, match)
    assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
    assert (await folded(host, match)).outcome is not None
    assert host.told[1:]
    assert rival.told


async def test_desks_that_race_on_one_match_lose_races_and_store_each_command_once(host, rival, match):
    conflicts = _conflicts()
    draws = [(desk, player) for desk in (host, rival) for player in (ANN, BOB)]
    for number in range(30):
        offers = [
            desk.does(match, player, OfferDraw(), request_id=f"{player} {number}") for desk, player in draws
        ]
        answers = await asyncio.gather(*offers, return_exceptions=True)
        accepted = {answer.version for answer in answers if not isinstance(answer, BaseException)}
        assert len(accepted) == 1
        offer = accepted.pop()
        by = events_in(await entries_of(host.store, match))[offer - 1].by
        await rival.does(match, PLAYERS[1 - by], AnswerDraw(offer=offer, accept=False))
    entries = await entries_of(host.store, match)
    assert [entry.version for entry in entries] == list(range(1, 62))
    assert _conflicts() > conflicts


async def test_one_request_many_times_at_once_on_two_desks_is_one_event_and_one_receipt(host, rival, match):
    move = SubmitMove(move=any_move(await host.now(match), 0, random.Random(5)), expected_version=1)
    answers = await asyncio.gather(
        *(desk.does(match, ANN, move, request_id="once") for desk in (host, rival) for _ in range(5))
    )
    assert len({(answer.receipt, answer.version) for answer in answers}) == 1
    assert len(await entries_of(host.store, match)) == 2


async def test_a_repeated_request_gets_its_first_receipt_after_the_match_has_gone_on(host, rival, match):
    move = SubmitMove(move=any_move(await host.now(match), 0, random.Random(6)), expected_version=1)
    first = await host.does(match, ANN, move, request_id="once")
    await rival.plays(match, random.Random(7))
    length = len(await entries_of(host.store, match))
    assert await rival.does(match, ANN, move, request_id="once") == first
    assert await host.does(match, ANN, move, request_id="once") == first
    assert len(await entries_of(host.store, match)) == length


async def test_a_request_id_with_another_body_is_refused(host, rival, match):
    one, other = (await host.now(match)).state.hands[0]
    await host.does(match, ANN, SubmitMove(move=play(one)), request_id="once")
    for desk in (host, rival):
        with pytest.raises(RequestIdReused):
            await desk.does(match, ANN, SubmitMove(move=play(other)), request_id="once")
    assert len(await entries_of(host.store, match)) == 2


async def test_a_request_id_counts_for_one_player_and_one_kind_of_command(host, match):
    card = (await host.now(match)).state.hands[0][0]
    await host.does(match, ANN, OfferDraw(), request_id="once")
    await host.does(match, ANN, SubmitMove(move=play(card)), request_id="once")
    await host.does(match, BOB, OfferDraw(), request_id="once")
    assert len(await entries_of(host.store, match)) == 4


async def test_a_lost_tail_is_folded_again_and_never_forked(host, rival, match):
    await host.plays(match, random.Random(8), moves=3)
    await _lose_tail(host, match)
    lost = await host.now(match)
    assert lost.version == 3
    await host.plays(match, random.Random(9), moves=1)
    await _lose_tail(host, match)
    await rival.plays(match, random.Random(10), moves=2)
    # The first desk still holds the lost version 4, whose number is taken by another event now.
    await host.plays(match, random.Random(11))
    assert (await folded(host, match)).outcome is not None


async def test_a_command_decided_on_a_lost_tail_is_decided_again(host, match):
    await host.plays(match, random.Random(8), moves=2)
    await _lose_tail(host, match)
    await host.does(match, ANN, Resign())
    there = await folded(host, match)
    assert (there.version, there.outcome.reason) == (3, "resignation")


async def test_a_receipt_whose_event_was_lost_is_not_given_again(host, match):
    first = await host.does(match, ANN, OfferDraw(), request_id="once")
    await _lose_tail(host, match)
    there = await host.now(match)
    assert there.version == 1
    again = await host.does(match, ANN, OfferDraw(), request_id="once")
    assert again.version == first.version == 2
    assert len(await entries_of(host.store, match)) == 2


async def test_a_damaged_match_is_refused_and_all_others_go_on(host, rival, new_match):
    good, bad = await started(host, new_match()), await started(host, new_match())
    head = (await host.now(bad)).head
    entry = (await entries_of(host.store, bad))[0]
    forged = Append(
        stream=match_stream(bad),
        entry=msgspec.structs.replace(entry, version=2),
        expected_version=1,
        expected_hash=head,
        owner="high_card",
        at=1,
    )
    await host.store.append(forged)
    for desk in (host, rival):
        with pytest.raises(HistoryCorrupt):
            await desk.does(bad, BOB, Resign())
        await desk.plays(good, random.Random(12), moves=1)


async def test_a_match_of_another_title_is_none_of_ours(host, store, new_match):
    other = TOY[1].__class__()
    other.slug = "low_card"
    theirs = await started(Host(Library({1: other}, ""), store), new_match())
    with pytest.raises(NoSuchMatch):
        await host.does(theirs, ANN, Resign())


async def test_a_match_in_a_rules_version_this_worker_lacks_is_left_to_another(host, store, new_match):
    newer = TOY[1].__class__()
    newer.rules_version = 2
    upgraded = Host(Library({1: TOY[1], 2: newer}, ""), store)
    match = await started(upgraded, new_match())
    with pytest.raises(TitleDown):
        await host.does(match, ANN, Resign())
    await upgraded.does(match, ANN, Resign())


async def test_a_desk_that_keeps_only_one_match_plays_many(store, new_match):
    host = Host(TOY_LIBRARY, store, room=1)
    matches = [await started(host, new_match()) for _ in range(5)]
    rng = random.Random(13)
    await asyncio.gather(*(host.plays(match, rng) for match in matches))
    for match in matches:
        assert (await folded(host, match)).outcome is not None
    assert len(host.shelf) == 1


async def _lose_tail(host: Host, match: MatchId) -> None:
    """Forgets the last entry, as a Redis does that crashed before it was on disk."""
    *kept, _ = await entries_of(host.store, match)
    key = stream_key(match_stream(match))
    await host.store.link.call("DEL", key)
    for entry in kept:
        await host.store.link.call("XADD", key, f"{entry.version}-0", "e", entry.body, "h", entry.hash)


def play(card: int) -> Raw:
    return Raw(b'{"type":"play","card":%d}' % card)


def _conflicts() -> float:
    return APPEND_CONFLICTS.labels("high_card")._value.get()


async def test_a_command_that_loses_every_race_is_refused_after_as_many_as_the_bound(
    host, match, monkeypatch
):
    tried = 0

    async def is_slower(append: Append) -> None:
        nonlocal tried
        tried += 1
        assert tried <= RACES_MAX + 1
        raise VersionConflict(append.expected_version, append.expected_version + 1)

    monkeypatch.setattr(host.store, "append", is_slower)
    with pytest.raises(VersionConflict):
        await host.does(match, ANN, Resign())
    assert tried == RACES_MAX + 1
