"""Lost tails: what a store that flushes every second may forget when it dies, and nothing else.

A command is excused only if its store died just after it was acknowledged, and if nothing that was
acknowledged before the death and stands behind it in the same stream was kept.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.faults.history import Told

# Between two flushes; a write waits as long again for a flush that is under way.
FLUSH_S_MAX = 2.0
# An answer or a push that was on its way when the store died may be heard so much later.
LATE_S_MAX = 20.0


class Cut(NamedTuple):
    """A death of the store: what was written after `since` may be gone. Monotonic seconds."""

    since: float
    at: float


class Kept(NamedTuple):
    """What a stream still holds of what was acknowledged before a cut: everything up to `version`."""

    cut: Cut
    version: int


def kept_in(cuts: Iterable[Cut], standing: Sequence[Told]) -> list[Kept]:
    """For each cut the last version that outlived it. `standing`: a stream's commands that are as told."""
    return [
        Kept(cut, max((told.version for told in standing if told.answered < cut.at), default=0))
        for cut in cuts
    ]


def is_excused(told: Told, kept: Sequence[Kept]) -> bool:
    """Whether an acknowledged command that is not stored as told belongs to a lost tail.

    A table's receipt names no version: there only the time can be judged.
    """
    return any(
        told.invoked < cut.at and cut.since < told.answered < cut.at + LATE_S_MAX
        for cut, version in kept
        if not told.version or told.version > version
    )


def was_there(version: int, seen: float, kept: Sequence[Kept]) -> bool:
    """Whether something seen of `version` may have been of a tail that was lost."""
    return any(cut.since < seen < cut.at + LATE_S_MAX and version > last for cut, last in kept)
