"""What can be asked of a table, in the imperative. Each accepted command becomes one event."""

import hashlib

import msgspec
from msgspec import Raw, Struct

from services.core.clock import Clock
from services.core.events import text_of


class TableCommand(Struct, frozen=True, tag=True, forbid_unknown_fields=True, kw_only=True):
    """Who issues it, and when, comes beside it, as `services.core.commands.Issued`."""


class CreateTable(TableCommand, frozen=True, kw_only=True):
    """As the player wrote it. `options`: JSON, keys sorted. `seats`: 0 for the fewest."""

    title: str
    options: Raw
    seats: int = 0
    private: bool = False
    clock: Clock | None = None
    automatic: bool = True
    quick: bool = False
    nonce: str = ""


class TakeSeat(TableCommand, frozen=True, kw_only=True):
    """`seat`: None for the first free one."""

    seat: int | None = None
    nonce: str = ""


class LeaveSeat(TableCommand, frozen=True, kw_only=True):
    """The table closes when its host leaves."""


class StartTable(TableCommand, frozen=True, kw_only=True):
    """Seals the table as it is; for the host."""


class SealTable(TableCommand, frozen=True, kw_only=True):
    """Issued by the lobby when the last seat of an automatic table is taken."""


class CloseTable(TableCommand, frozen=True, kw_only=True):
    """Issued by the lobby when nobody comes. `note`: why, for the players."""

    note: str


AnyTableCommand = TakeSeat | LeaveSeat | StartTable | SealTable | CloseTable


def fingerprint(command: TableCommand) -> str:
    """Equal for equal commands; 8 bytes of BLAKE2b, Base64."""
    return text_of(hashlib.blake2b(msgspec.json.encode(command), digest_size=8).digest())
