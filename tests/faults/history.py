"""What clients did and were told: every command from its invocation to its last answer, every view.

A command is *unknown* from its invocation until an answer says more, and may stay so.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from services.core.events import bytes_of
from services.core.ids import StreamName


class Fate(Enum):
    """What the client knows of a command."""

    OK = "ok"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Told:
    """One command. Times are monotonic seconds; `version` and `head` are those of its receipt.

    `attempts`: how often it was sent; `trail`: over HTTP, when and where in vain, and why. `worker`: the
    address that accepted it, where the client chose one.
    """

    client: int
    via: str
    stream: StreamName
    player: str
    request_id: str
    invoked: float
    answered: float = 0.0
    fate: Fate = Fate.UNKNOWN
    version: int = 0
    head: bytes = b""
    reason: str = ""
    attempts: int = 0
    worker: str = ""
    trail: list[str] = field(default_factory=list)

    def accept(self, version: int, head: str) -> None:
        self.fate, self.version, self.head = Fate.OK, version, bytes_of(head)
        self.answered = time.monotonic()

    def refuse(self, reason: str) -> None:
        self.fate, self.reason = Fate.REFUSED, reason
        self.answered = time.monotonic()


class Eyes(NamedTuple):
    """Who saw a match, and at which version. `player`: empty for a stranger."""

    match: str
    version: int
    player: str


class Oddity(NamedTuple):
    """An answer that fits a command only if the store has lost it since."""

    told: Told
    line: str


@dataclass
class History:
    """`seen`: what each pair of eyes was shown, as imprints, and when first. `races`: pairs of rivals.

    `wrong`: what no client should ever have been told, as lines for a person.
    """

    commands: list[Told] = field(default_factory=list)
    seen: defaultdict[Eyes, dict[bytes, float]] = field(default_factory=lambda: defaultdict(dict))
    races: list[tuple[Told, Told]] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    repeats: int = 0

    def invoke(self, client: int, via: str, stream: StreamName, player: str, request_id: str) -> Told:
        told = Told(client, via, stream, player, request_id, time.monotonic())
        self.commands.append(told)
        return told

    def saw(self, match: str, version: int, player: str, view: Any) -> None:
        self.seen[Eyes(match, version, player)].setdefault(imprint(view), time.monotonic())

    def of(self, fate: Fate) -> Iterator[Told]:
        return (told for told in self.commands if told.fate is fate)


def imprint(view: Any) -> bytes:
    """16 bytes: equal for views that say the same in any order of members."""
    return blake2b(msgspec.json.encode(view, order="sorted"), digest_size=16).digest()
