"""A published head hash must not tell a right guess of a hidden card from a wrong one.

The attacker here knows the code, the other player's nonce, every byte of the entry that is not secret, and
how all cards were dealt but for one of the other hand: the seed alone is missing. So there is one deal to
try for each card that could be in its place, and the published hash says which is right, if anything does.
"""

import hashlib
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from services.core import start as starting
from services.core.chance import Recorded
from services.core.events import Event, bytes_of, genesis, seal, text_of
from services.core.ids import match_stream
from services.core.match_events import MatchStarted, happening
from services.core.secrecy import SEED_BYTES, digest, salt
from tests.core.matches import MATCH, SEED, TOY_RULES, Table
from tests.toy.titles.high_card import VERSIONS as TOY
from tests.toy.titles.high_card.moves import Options
from tests.toy.titles.high_card.rules import DECK

TITLE = TOY[1]
HIDDEN = 2  # the place in the dealt order of the other player's first card
UNSEEN = range(HIDDEN, len(DECK))
OTHER_SEED = bytes(reversed(SEED))


class Published(NamedTuple):
    """The first entry as the attacker sees it: salt, digest and luck are out of `event`."""

    head: bytes
    event: Event
    started: MatchStarted


class Deal(NamedTuple):
    """A way the cards could lie. `canonical`: of the position."""

    luck: list
    canonical: bytes


def published(table):
    event = table.decision.event
    started = happening(match_stream(MATCH), event)
    return Published(table.match.head, replace(event, salt="", digest=""), started)


def deals(order, wind) -> Iterable[Deal]:
    """The true deal, and every one with another card in the hidden place."""
    for place in UNSEEN:
        swapped = [*order]
        swapped[HIDDEN], swapped[place] = order[place], order[HIDDEN]
        luck = [swapped, wind]
        yield Deal(luck, TITLE.canonical(TITLE.setup(Options(), 2, Recorded(luck))))


def found_by_trying(told, salts, digests_of):
    """The deals that give the published head, with some of these salts and of a deal's digests."""
    found = []
    for deal in deals(*told.started.chance):
        data = TOY_RULES.write(replace(told.started, chance=deal.luck))
        for some_salt, some_digest in product(salts, digests_of(deal)):
            guess = replace(told.event, data=data, salt=some_salt, digest=some_digest)
            if seal(guess, genesis(match_stream(MATCH))).hash == told.head:
                found.append(deal)
    return found


def keys(told):
    """What the attacker may take for the seed, since anything secret might be derived from it instead."""
    public = bytes_of(told.started.commitment)
    texts = (told.started.commitment, MATCH, *(sitting.nonce for sitting in told.started.seats))
    hashed = (hashlib.sha256(text.encode()).digest() for text in texts)
    return (public, hashlib.sha256(public).digest(), bytes(SEED_BYTES), told.head, OTHER_SEED, *hashed)


def public_salts(told):
    return ["", *(salt(key, 1) for key in keys(told))]


def public_digests(told):
    """Digests of a deal as far as they can be had without the seed: without a key, and under public ones."""

    def digests_of(deal):
        plain = hashlib.blake2b(deal.canonical, digest_size=16).digest()
        return ["", text_of(plain), *(digest(key, deal.canonical) for key in keys(told))]

    return digests_of


def test_without_the_seed_no_guess_of_a_hidden_card_can_be_told_from_another():
    told = published(Table())
    assert len(list(deals(*told.started.chance))) == 38
    assert found_by_trying(told, public_salts(told), public_digests(told)) == []


def test_with_the_seed_the_same_attack_finds_the_card():
    told = published(Table())
    found = found_by_trying(told, [salt(SEED, 1)], lambda deal: [digest(SEED, deal.canonical)])
    assert [deal.luck for deal in found] == [told.started.chance]


def test_the_salt_alone_protects_the_head_and_so_does_the_digest():
    told = published(Table())
    assert found_by_trying(told, [salt(SEED, 1)], public_digests(told)) == []
    assert found_by_trying(told, public_salts(told), lambda deal: [digest(SEED, deal.canonical)]) == []


@pytest.mark.parametrize("derived_from", range(3))
def test_salt_and_digest_that_came_from_public_things_would_give_the_card_away(derived_from):
    """The attack is no straw man: it breaks entries whose salt and digest anybody can work out."""
    key = keys(published(Table()))[derived_from]
    with (
        patch.object(starting, "salt", lambda seed, version: salt(key, version)),
        patch.object(starting, "digest", lambda seed, canonical: digest(key, canonical)),
    ):
        told = published(Table())
    assert len(found_by_trying(told, public_salts(told), public_digests(told))) == 1


def test_an_entry_without_salt_and_with_a_plain_digest_would_give_the_card_away():
    def plain(seed, canonical):
        return text_of(hashlib.blake2b(canonical, digest_size=16).digest())

    with patch.object(starting, "salt", lambda seed, version: ""), patch.object(starting, "digest", plain):
        told = published(Table())
    assert len(found_by_trying(told, public_salts(told), public_digests(told))) == 1


def test_a_digest_tells_nothing_of_a_position_without_its_key():
    told, true_digest = published(Table()), Table().decision.event.digest
    for deal in deals(*told.started.chance):
        assert true_digest not in public_digests(told)(deal)


def test_salts_are_long_and_differ_by_version_and_seed_and_by_nothing_public():
    salts = [salt(seed, version) for seed in (SEED, OTHER_SEED) for version in range(1, 200)]
    assert len(set(salts)) == len(salts)
    assert {len(bytes_of(text)) for text in salts} == {16}
