"""Time, in UTC ms: what the lobby's own clock says, and how far it believes that of a caller."""

import time

BELIEVED_MS = 5_000  # a caller's `at` may lie that far in the past


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def believed(at: int, now: int) -> int:
    """`at`, but never later than `now`, nor much older."""
    return min(max(at, now - BELIEVED_MS), now)
