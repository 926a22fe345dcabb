"""Time, in UTC ms: what this process's own clock says, and how far it believes that of a caller."""

import time

from services.core.clock import GRACE_MS


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def believed(at: int, now: int) -> int:
    """`at`, but never later than `now` nor older than what a flag waits for."""
    return min(max(at, now - GRACE_MS), now)
