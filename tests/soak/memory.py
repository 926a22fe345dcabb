"""What processes took while matches were made, and whether that grows with their number."""

from collections.abc import Mapping, Sequence
from statistics import linear_regression
from typing import NamedTuple

# Less than what one small object of each match would take: a dictionary's entry with an id is over 150 bytes.
LEAK_BYTES = 100
WARM = 0.3  # of all matches; by then the caches are full and the allocator has its arenas


class Sample(NamedTuple):
    """`rss`: bytes by process, when `made` matches had been made."""

    made: int
    rss: Mapping[str, int]


def growth(samples: Sequence[Sample], process: str, share: float = 1.0) -> float:
    """Bytes by which `process` grew per match, after the first WARM of them. `share`: of matches it had."""
    warm = [sample for sample in samples if sample.made >= WARM * samples[-1].made]
    made = [sample.made * share for sample in warm]
    return linear_regression(made, [sample.rss[process] for sample in warm]).slope


def leaks(samples: Sequence[Sample], shares: Mapping[str, float]) -> dict[str, float]:
    """Processes that grow by more than LEAK_BYTES per match of theirs, and by how much."""
    found = {process: growth(samples, process, share) for process, share in shares.items()}
    return {process: grown for process, grown in found.items() if grown > LEAK_BYTES}
