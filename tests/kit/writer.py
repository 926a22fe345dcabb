"""A writer of test entries: it knows one stream's head and makes the append that follows it."""

from hashlib import sha256

import msgspec

from services.core.events import Entry
from services.core.ids import StreamName
from services.kit.store import Append, EventStore


class Writer:
    """Appends to one stream. `version` and `hash` are the head as this writer knows it."""

    def __init__(self, stream: StreamName, owner: str) -> None:
        self.stream = stream
        self.owner = owner
        self.version = 0
        self.hash = bytes(32)

    def following(self, text: str = "", **changes: object) -> Append:
        """The append that follows the known head; `text` makes its entry differ from another's."""
        version = self.version + 1
        body = f'{{"version":{version},"text":"{text}"}}'.encode()
        append = Append(
            stream=self.stream,
            entry=Entry(version, body, sha256(self.hash + body).digest()),
            expected_version=self.version,
            expected_hash=self.hash,
            owner=self.owner,
            at=1_000 + version,
        )
        return msgspec.structs.replace(append, **changes)

    def follow(self, entry: Entry) -> None:
        self.version, self.hash = entry.version, entry.hash

    async def write(self, store: EventStore, count: int = 1, **changes: object) -> list[Entry]:
        """Appends `count` entries and returns them."""
        written = []
        for _ in range(count):
            append = self.following(**changes)
            await store.append(append)
            self.follow(append.entry)
            written.append(append.entry)
        return written
