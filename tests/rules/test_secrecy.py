"""Nothing that a worker says before the end of a match helps to guess what is hidden, whoever is told."""

import random

import msgspec
import pytest
from msgspec import Raw

from services.core.commands import Resign, SubmitMove
from services.core.errors import DomainError
from services.core.events import text_of
from services.rules.library import load
from services.rules.live import push_for
from services.rules.published import published
from tests.rules.hosting import PLAYERS, SEED, Host, any_move, entries_of, events_in, reader, started
from tests.titles.found import SLUGS

pytestmark = pytest.mark.anyio

MOVES = 12


async def said_to(host: Host, match: str, seat: int | None) -> list[bytes]:
    """Everything that `seat` is told while the match runs."""
    who = reader(None if seat is None else PLAYERS[seat])
    there = await host.now(match)
    said = [push_for(news, seat) for news in host.told]
    said += [(await host.reads.view(match, who, version)).view for version in range(1, there.version + 1)]
    said.append(await host.reads.events(match, who, 0, 0))
    said.append(await host.reads.legal_moves(match, who, 0, ""))
    said += [message.SerializeToString() for message in await host.published.after(match, 0)]
    said += [published(news).SerializeToString() for news in host.told]
    return said


@pytest.mark.parametrize("slug", SLUGS)
async def test_no_seed_salt_digest_nonce_luck_or_foreign_request_id_is_told(store, new_match, slug):
    host = Host(load(slug), store)
    seats = host.library.title.seats.stop - 1
    match = await started(host, new_match(), seats)
    rng = random.Random(slug)
    for number in range(MOVES):
        there = await host.now(match)
        seat = rng.choice(sorted(there.to_act))
        move = SubmitMove(move=any_move(there, seat, rng))
        await host.does(match, PLAYERS[seat], move, request_id=f"id-of-seat-{seat}-{number}")
    secrets = [text_of(SEED).encode(), b"nonce of", b'"salt"', b'"digest"']
    for event in events_in(await entries_of(store, match)):
        secrets += [event.salt.encode(), event.digest.encode()]
        secrets += [b'"chance"'] if b'"chance"' in bytes(event.data) else []
    assert (await host.now(match)).outcome is None
    for seat in (*range(seats), None):
        foreign = [f"id-of-seat-{other}-".encode() for other in range(seats) if other != seat]
        for payload in await said_to(host, match, seat):
            assert not [secret for secret in (*secrets, *foreign) if secret in payload]
    # The scan finds what it looks for: the end reveals every one of these to everybody.
    await host.does(match, PLAYERS[0], Resign())
    revealed = b"".join(await said_to(host, match, None))
    assert not [secret for secret in secrets if secret not in revealed]


async def test_a_hand_is_told_to_its_seat_only(host, new_match):
    match = await started(host, new_match(), 3)
    await host.plays(match, random.Random(1), moves=5)
    for news in host.told:
        for seat in (0, 1, 2, None):
            told = msgspec.json.decode(push_for(news, seat))
            hand = None if seat is None else list(news.match.state.hands[seat])
            assert told["view"]["view"]["hand"] == hand
            assert set(told["view"]["view"]) == {
                "round",
                "turn",
                "shown",
                "points",
                "hand",
                "hand_sizes",
                "deck_size",
                "wind",
            }


async def test_a_refusal_says_nothing_about_hidden_cards(host, match):
    hands = (await host.now(match)).state.hands
    for card in range(-5, 50):
        if card in hands[0]:
            continue
        with pytest.raises(DomainError) as refusal:
            await host.does(match, PLAYERS[0], SubmitMove(move=Raw(b'{"type":"play","card":%d}' % card)))
        assert str(refusal.value) == f"rule card-in-hand: card {card} is not in your hand"
