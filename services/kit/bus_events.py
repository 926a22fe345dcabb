"""The JetStream stream that carries published events to read models, bots and webhooks.

Storage format: its name, its subjects and the message ids.
"""

import nats.js.errors
from nats.aio.client import Client
from nats.js.api import RetentionPolicy, StorageType, StreamConfig

from services.core.events import Entry
from services.core.ids import StreamName, stream_match
from services.kit.store import Owner, stream_partition

STREAM = "EVENTS"
ALL_SUBJECTS = "events.>"
MESSAGE_ID = "Nats-Msg-Id"
TRACEPARENT = "traceparent"  # a header of events that were published in the course of a trace

KEPT_S = 24 * 60 * 60
DUPLICATES_S = 2 * 60
_ASK_S_MAX = 5.0


def subject(owner: Owner, stream: StreamName) -> str:
    """Where an event of `stream` is published; a match and its table share it."""
    return f"events.{owner}.{stream_partition(stream)}.{stream_match(stream)}"


def message_id(stream: StreamName, entry: Entry) -> str:
    """What JetStream knows duplicates by; with the hash, since a version may come anew after a lost tail."""
    return f"{stream}:{entry.version}:{entry.hash[:4].hex()}"


async def ensure_events_stream(client: Client, replicas: int = 1) -> None:
    """Makes the stream, on `replicas` servers of a cluster, unless it is there.

    One that an operator has set up otherwise stays as it is.
    """
    jetstream = client.jetstream(timeout=_ASK_S_MAX)
    try:
        await jetstream.stream_info(STREAM)
    except nats.js.errors.NotFoundError:
        await jetstream.add_stream(
            StreamConfig(
                name=STREAM,
                subjects=[ALL_SUBJECTS],
                retention=RetentionPolicy.LIMITS,
                storage=StorageType.FILE,
                num_replicas=replicas,
                max_age=KEPT_S,
                duplicate_window=DUPLICATES_S,
            )
        )
