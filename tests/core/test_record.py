import msgspec
import pytest
from msgspec.structs import replace

from services.core.errors import BadRequest, HistoryCorrupt, NoSuchMatch, NotOver
from services.core.events import Entry, bytes_of, genesis, text_of
from services.core.ids import match_stream
from services.core.record import RecordedEntry, read_record, record_of, verify
from services.core.replay import fold
from services.core.secrecy import commitment, salt
from tests.core.matches import MATCH, SEED, Table, ruleset_for

OTHER_SEED = bytes(32)


@pytest.fixture(scope="module")
def played():
    return Table(seats=3).moves()


def forged(entries, change):
    """The entries with the bodies changed and the chain mended: as a forger would do it."""
    import hashlib

    head, result = genesis(match_stream(MATCH)), []
    for entry in entries:
        body = change(entry.version, entry.body)
        head = hashlib.sha256(head + body).digest()
        result.append(Entry(entry.version, body, head))
    return result


def test_a_record_proves_itself_to_the_last_version(played):
    record = read_record(msgspec.json.encode(record_of(played.match, played.entries)))
    steps = verify(record, ruleset_for)
    assert [step.match.version for step in steps] == list(range(1, len(played.entries) + 1))
    assert steps[-1].match.outcome == played.match.outcome


def test_a_running_match_has_no_record():
    table = Table().moves(2)
    with pytest.raises(NotOver):
        record_of(table.match, table.entries)


def test_a_flipped_byte_is_named_with_its_version(played):
    record = record_of(played.match, played.entries)
    for place, entry in enumerate(record.entries):
        at = len(entry.body) // 2
        body = entry.body[:at] + chr(ord(entry.body[at]) ^ 1) + entry.body[at + 1 :]
        entries = [*record.entries[:place], RecordedEntry(body, entry.hash), *record.entries[place + 1 :]]
        with pytest.raises(HistoryCorrupt) as caught:
            verify(replace(record, entries=entries), ruleset_for)
        assert caught.value.version == place + 1


def test_a_removed_entry_is_named_with_its_version(played):
    record = record_of(played.match, played.entries)
    for place in range(len(record.entries) - 1):
        entries = record.entries[:place] + record.entries[place + 1 :]
        with pytest.raises(HistoryCorrupt) as caught:
            verify(replace(record, entries=entries), ruleset_for)
        assert caught.value.version in (place + 1, len(entries))


def test_a_cut_tail_reveals_no_seed(played):
    record = record_of(played.match, played.entries)
    with pytest.raises(HistoryCorrupt, match="does not reveal a seed"):
        verify(replace(record, entries=record.entries[:-1]), ruleset_for)


def test_another_seed_is_found_even_with_a_mended_chain(played):
    swapped = forged(
        played.entries,
        lambda version, body: body.replace(text_of(SEED).encode(), text_of(OTHER_SEED).encode()),
    )
    with pytest.raises(HistoryCorrupt):
        verify(record_of(played.match, swapped), ruleset_for)


def test_a_match_played_from_another_seed_than_was_promised_is_found():
    other = Table(seats=3, seed=OTHER_SEED).moves()
    told, promised = commitment(OTHER_SEED).encode(), commitment(SEED).encode()
    entries = forged(other.entries, lambda version, body: body.replace(told, promised))
    with pytest.raises(HistoryCorrupt, match="committed") as caught:
        verify(record_of(other.match, entries), ruleset_for)
    assert caught.value.version == 1


def test_a_salt_of_another_version_is_found_even_with_a_mended_chain(played):
    own, next_one = (salt(SEED, version).encode() for version in (2, 3))
    swapped = forged(
        played.entries, lambda version, body: body.replace(own, next_one) if version == 2 else body
    )
    with pytest.raises(HistoryCorrupt, match="salt") as caught:
        verify(record_of(played.match, swapped), ruleset_for)
    assert caught.value.version == 2


def test_changed_luck_is_found_even_with_a_mended_chain(played):
    def luckier(version, body):
        event = msgspec.json.decode(body)
        if version == 1:
            event["data"]["chance"][0][:2] = reversed(event["data"]["chance"][0][:2])
        return msgspec.json.encode(event)

    with pytest.raises(HistoryCorrupt):
        verify(record_of(played.match, forged(played.entries, luckier)), ruleset_for)


def test_a_changed_nonce_is_found_even_with_a_mended_chain(played):
    swapped = forged(played.entries, lambda version, body: body.replace(b"nonce of ann", b"nonce of eve"))
    with pytest.raises(HistoryCorrupt, match="luck"):
        verify(record_of(played.match, swapped), ruleset_for)


def test_a_changed_outcome_is_found_even_with_a_mended_chain(played):
    def crowned(version, body):
        event = msgspec.json.decode(body)
        if "outcome" in event["data"]:
            event["data"]["outcome"]["winners"] = [7]
        return msgspec.json.encode(event)

    with pytest.raises(HistoryCorrupt, match="outcome"):
        verify(record_of(played.match, forged(played.entries, crowned)), ruleset_for)


def test_a_wrong_seed_in_the_store_is_found_at_version_one(played):
    with pytest.raises(HistoryCorrupt, match="version 1"):
        fold(MATCH, OTHER_SEED, played.entries, ruleset_for)


def test_no_entries_are_no_match():
    with pytest.raises(NoSuchMatch):
        fold(MATCH, SEED, [], ruleset_for)


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff\xfe", b'{"format":"x"}'])
def test_what_is_no_record_is_refused(raw):
    with pytest.raises(BadRequest):
        read_record(raw)


def test_a_record_of_another_format_is_refused(played):
    raw = msgspec.json.encode(replace(record_of(played.match, played.entries), format="other/1"))
    with pytest.raises(BadRequest, match="other/1"):
        read_record(raw)


def test_hashes_are_32_bytes(played):
    assert all(len(bytes_of(entry.hash)) == 32 for entry in record_of(played.match, played.entries).entries)
