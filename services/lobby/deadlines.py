"""When the lobby has to look at a table again, should nothing happen at it before."""

from services.core.tables import Table
from services.kit.store import CLEAR

# A step that follows by itself (seal, start, list as waiting) is taken at once; the sweeper repeats
# it should this process die in between.
STEP_MS = 3_000

OPEN_MS_MAX = 24 * 60 * 60 * 1000
QUICK_MS_MAX = 60 * 60 * 1000  # a host who waits for just anybody does not wait all day


def deadline_of(table: Table, now: int) -> int:
    """UTC ms, or CLEAR; `table` is as the event being appended leaves it."""
    if table.status == "closed":
        return CLEAR
    if table.status == "sealed" or is_to_be_sealed(table) or table.created.quick:
        return now + STEP_MS
    return expires_at(table)


def expires_at(table: Table) -> int:
    """UTC ms when an open table closes because nobody came."""
    return table.created_at + (QUICK_MS_MAX if table.created.quick else OPEN_MS_MAX)


def is_to_be_sealed(table: Table) -> bool:
    """Whether the last seat of a table that starts by itself is taken."""
    return table.status == "open" and table.created.automatic and table.is_full
