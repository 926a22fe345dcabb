"""What processes took while matches were made, and whether that grows with their number."""

from collections.abc import Mapping, Sequence
from statistics import linear_regression
from typing import NamedTuple

# Less than what one small object of each match would take: a dictionary's entry with an id is over 150 bytes.
LEAK_BYTES = 100
# By then all caches are full: of a worker's own matches, since its largest other one holds 4,096 commitments.
WARM_MATCHES = 6_000
SAMPLES_MIN = 6  # fewer tell nothing


class TooFew(Exception):
    """So few matches tell nothing about memory; the message says how many would."""


class Sample(NamedTuple):
    """`rss`: bytes by process, when `made` matches had been made."""

    made: int
    rss: Mapping[str, int]


def growth(samples: Sequence[Sample], process: str, share: float = 1.0) -> float:
    """Bytes by which `process` grew per match of its own, once it was warm. `share`: of all, how many it had.

    Raises TooFew.
    """
    warm = [sample for sample in samples if sample.made * share >= WARM_MATCHES]
    if len(warm) < SAMPLES_MIN:
        raise TooFew(f"it takes {2 * WARM_MATCHES / share:.0f} matches to tell whether {process} grows")
    made = [sample.made * share for sample in warm]
    return linear_regression(made, [sample.rss[process] for sample in warm]).slope


def leaks(samples: Sequence[Sample], shares: Mapping[str, float]) -> dict[str, float]:
    """Processes that grow by more than LEAK_BYTES per match of theirs, and by how much."""
    found = {process: growth(samples, process, share) for process, share in shares.items()}
    return {process: grown for process, grown in found.items() if grown > LEAK_BYTES}
