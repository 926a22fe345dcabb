"""Where things lie in Redis. Storage format: every name here is on disk.

All keys of a match share the hash tag of its partition, so that one function may change them together,
on a cluster too.
"""

from services.core.ids import MatchId, StreamName
from services.kit.store import Owner, Published, partition, stream_partition


def stream_key(stream: StreamName) -> str:
    """A stream; entry id `<version>-0`, fields `e` (the event's JSON) and `h` (its hash, 32 bytes)."""
    return f"{{p{stream_partition(stream)}}}:{stream}"


def seed_key(match: MatchId) -> str:
    """A string: the match's secret, 32 bytes."""
    return f"{{p{partition(match)}}}:seed/{match}"


def outbox_key(number: int, owner: Owner) -> str:
    """A sorted set: `<stream>:<version>` by the time when it was stored."""
    return f"{{p{number}}}:outbox:{owner}"


def deadlines_key(number: int, owner: Owner) -> str:
    """A sorted set: match ids by deadline."""
    return f"{{p{number}}}:deadlines:{owner}"


def streams_key(number: int) -> str:
    """A set: the names of the partition's streams."""
    return f"{{p{number}}}:streams"


def outbox_member(entry: Published) -> str:
    return f"{entry.stream}:{entry.version}"


def published(member: bytes) -> Published:
    """The reverse of `outbox_member`."""
    stream, _, version = member.decode().rpartition(":")
    return Published(StreamName(stream), int(version))
