"""Whatever is changed in a stored history is named with its version, and nothing but HistoryCorrupt comes."""

import hashlib
import random
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import pytest
from msgspec import Raw

from cli.titles import ruleset_for
from services.core.commands import Issued, Resign, SubmitMove
from services.core.decide import Decision, decide
from services.core.errors import HistoryCorrupt
from services.core.events import Entry, Event, genesis, seal
from services.core.ids import MatchId, PlayerId, match_stream
from services.core.match_events import Sitting
from services.core.record import record_of, verify
from services.core.replay import fold
from services.core.start import start
from tests.titles.found import SLUGS, title_of

MATCH = MatchId("m")
SEED = bytes(range(32))
FORGERIES = 150  # per title, of events that are sealed again after the change


class Story(NamedTuple):
    """A whole match of random moves."""

    entries: list[Entry]

    def folded(self, entries: Sequence[Entry] | None = None, seed: bytes = SEED):  # type: ignore[no-untyped-def]
        return fold(MATCH, seed, self.entries if entries is None else entries, ruleset_for)


@pytest.fixture(scope="module", params=SLUGS)
def story(request: pytest.FixtureRequest) -> Story:
    """Of each title in turn, its first forty moves."""
    title, rng = title_of(request.param), random.Random(request.param)
    seats = tuple(Sitting(f"p{seat}", "nonce") for seat in range(title.seats.start))
    rules = ruleset_for(request.param, title.rules_version)
    decision = start(MATCH, rules, SEED, options=Raw(b"{}"), seats=seats, private=False, clock=None, at=1)
    entries = [decision.entry]
    while (match := decision.match).to_act and len(entries) <= 40:
        seat = rng.choice(sorted(match.to_act))
        move = rules.write(rng.choice(list(title.legal_moves(match.state, seat))))
        issued = Issued(player=PlayerId(f"p{seat}"), at=2, request_id=f"r{len(entries)}")
        decided = decide(match, SubmitMove(move=move), issued)
        assert isinstance(decided, Decision)
        decision = decided
        entries.append(decision.entry)
    return Story(entries)


def flipped(raw: bytes, at: int, bit: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :]


def resealed(entries: Sequence[Entry], changed: int, body: bytes) -> list[Entry]:
    """The stream as a forger leaves it who can compute hashes: chained anew from the changed entry on."""
    forged, previous = (
        list(entries[:changed]),
        entries[changed - 1].hash if changed else genesis(match_stream(MATCH)),
    )
    for number, entry in enumerate(entries[changed:], changed):
        event = msgspec.json.decode(entry.body, type=Event)
        sealed = seal(event, previous)
        if number == changed:
            sealed = Entry(sealed.version, body, hashlib.sha256(previous + body).digest())
        forged.append(sealed)
        previous = sealed.hash
    return forged


def test_a_flipped_bit_in_any_entry_is_named_with_its_version(story: Story) -> None:
    rng = random.Random(1)
    for number, entry in enumerate(story.entries):
        body = flipped(entry.body, rng.randrange(len(entry.body)), rng.randrange(8))
        hash_ = flipped(entry.hash, rng.randrange(32), rng.randrange(8))
        for damaged in (Entry(entry.version, body, entry.hash), Entry(entry.version, entry.body, hash_)):
            changed = [*story.entries[:number], damaged, *story.entries[number + 1 :]]
            with pytest.raises(HistoryCorrupt) as caught:
                story.folded(changed)
            assert caught.value.version == number + 1


def test_a_removed_or_inserted_entry_is_named_with_its_version(story: Story) -> None:
    for number in range(len(story.entries) - 1):
        removed = [*story.entries[:number], *story.entries[number + 1 :]]
        doubled = [*story.entries[: number + 1], *story.entries[number:]]
        with pytest.raises(HistoryCorrupt) as caught:
            story.folded(removed)
        assert caught.value.version == number + 1
        with pytest.raises(HistoryCorrupt) as caught:
            story.folded(doubled)
        assert caught.value.version == number + 2


def test_two_entries_that_changed_places_are_named_with_the_first_version(story: Story) -> None:
    for number in range(len(story.entries) - 1):
        one, other = story.entries[number : number + 2]
        swapped = [*story.entries[:number], other, one, *story.entries[number + 2 :]]
        with pytest.raises(HistoryCorrupt) as caught:
            story.folded(swapped)
        assert caught.value.version == number + 1


def test_a_wrong_seed_is_named_with_version_one(story: Story) -> None:
    with pytest.raises(HistoryCorrupt) as caught:
        story.folded(seed=bytes(32))
    assert caught.value.version == 1


def test_a_forged_event_is_corrupt_or_leads_to_the_same_position(story: Story) -> None:
    rng = random.Random(2)
    true = story.folded()
    for _ in range(FORGERIES):
        number = rng.randrange(len(story.entries))
        body = story.entries[number].body
        changed = flipped(body, rng.randrange(len(body)), rng.randrange(8))
        try:
            forged = story.folded(resealed(story.entries, number, changed))
        except HistoryCorrupt as error:
            assert error.version >= number + 1
        else:
            canonical = true.ruleset.title.canonical
            assert canonical(forged.state) == canonical(true.state)


def test_a_wrong_nonce_is_found_in_the_record_of_a_match_with_luck(story: Story) -> None:
    match = story.folded()
    entries = list(story.entries)
    if match.outcome is None:
        player = PlayerId(match.started.seats[0].player)
        resigned = decide(match, Resign(), Issued(player=player, at=3))
        assert isinstance(resigned, Decision)
        match, entries = resigned.match, [*entries, resigned.entry]
    verify(record_of(match, entries), ruleset_for)
    body = entries[0].body.replace(b'"nonce":"nonce"', b'"nonce":"other"', 1)
    assert body != entries[0].body
    forged = record_of(match, resealed(entries, 0, body))
    if match.luck:
        with pytest.raises(HistoryCorrupt, match="luck"):
            verify(forged, ruleset_for)
    else:  # a nonce decides nothing but luck
        verify(forged, ruleset_for)
