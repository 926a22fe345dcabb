"""The function that appends, as this side sees it: its source, its call and its reply."""

from functools import lru_cache
from pathlib import Path

from services.core.errors import HistoryForked, VersionConflict
from services.core.ids import StreamName, stream_match
from services.kit.redis_keys import deadlines_key, outbox_key, seed_key, stream_key, streams_key
from services.kit.redis_resp import Part, command
from services.kit.store import Append, Owner, stream_partition

LIBRARY = "waystation"
SOURCE = Path(__file__).with_name("append.lua").read_bytes()

_FUNCTION = "waystation_append_1"
_FORKED = -1


def append_command(append: Append) -> bytes:
    """The FCALL as it travels."""
    return command(
        *_beginning(append.stream, append.owner),
        append.expected_version,
        append.expected_hash,
        append.entry.body,
        append.entry.hash,
        append.at,
        b"" if append.deadline is None else append.deadline,
        append.seed or b"",
    )


@lru_cache(maxsize=4096)
def _beginning(stream: StreamName, owner: Owner) -> tuple[Part, ...]:
    """What is the same in all appends to a stream: function, keys and the first two of nine arguments."""
    number, match = stream_partition(stream), stream_match(stream)
    keys = (
        stream_key(stream),
        outbox_key(number, owner),
        deadlines_key(number, owner),
        streams_key(number),
        seed_key(match),
    )
    return ("FCALL", _FUNCTION, len(keys), *keys, stream, match)


def raise_unless_appended(append: Append, found: int) -> None:
    """Raises what the function's reply says, unless it says that the entry was stored."""
    if found == append.expected_version:
        return
    if found == _FORKED:
        raise HistoryForked(append.stream, append.expected_version, append.expected_version)
    if found < append.expected_version:  # entries that the writer had folded are gone
        raise HistoryForked(append.stream, append.expected_version, found)
    raise VersionConflict(append.expected_version, found)
