from base64 import urlsafe_b64encode

import msgspec
import pytest
from msgspec import Raw

from services.core.errors import HistoryCorrupt
from services.core.events import Entry, Event, bytes_of, genesis, seal, text_of, unseal
from services.core.ids import StreamName

STREAM = StreamName("match/m1")
EVENT = Event(type="move_made", version=1, at=5, by=0, data=Raw(b'{"move":{"card":3}}'), salt="s")


def test_an_entry_gives_back_the_event_it_was_sealed_from():
    entry = seal(EVENT, genesis(STREAM))
    assert msgspec.json.encode(unseal(STREAM, entry, genesis(STREAM), 1)) == entry.body


def test_the_stored_json_names_its_fields_in_full():
    assert seal(EVENT, b"").body == (
        b'{"type":"move_made","version":1,"at":5,"by":0,"data":{"move":{"card":3}},"salt":"s"}'
    )


def test_any_flipped_bit_of_body_or_hash_is_found():
    entry = seal(EVENT, genesis(STREAM))
    for at in range(len(entry.body)):
        body = bytes(byte ^ (1 if n == at else 0) for n, byte in enumerate(entry.body))
        with pytest.raises(HistoryCorrupt):
            unseal(STREAM, Entry(1, body, entry.hash), genesis(STREAM), 1)
    for at in range(32):
        chained = bytes(byte ^ (1 if n == at else 0) for n, byte in enumerate(entry.hash))
        with pytest.raises(HistoryCorrupt):
            unseal(STREAM, Entry(1, entry.body, chained), genesis(STREAM), 1)


def test_an_entry_of_another_stream_does_not_fit():
    entry = seal(EVENT, genesis(StreamName("match/m2")))
    with pytest.raises(HistoryCorrupt, match="does not match its hash"):
        unseal(STREAM, entry, genesis(STREAM), 1)


def test_a_missing_version_is_named():
    entry = seal(EVENT, genesis(STREAM))
    with pytest.raises(HistoryCorrupt, match="damaged at version 2: the stream goes on with version 1"):
        unseal(STREAM, entry, genesis(STREAM), 2)


@pytest.mark.parametrize("raw", [b"", b"\0", b"\xff" * 32, bytes(range(16))])
def test_bytes_come_back_from_their_text(raw):
    assert bytes_of(text_of(raw)) == raw
    assert text_of(raw) == urlsafe_b64encode(raw).rstrip(b"=").decode()
