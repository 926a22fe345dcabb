"""The bound of the soak, on figures that are made up: noise passes, one small object a match does not."""

import random

import pytest

from tests.soak.memory import Sample, TooFew, leaks


def figures(per_match: float, seed: int = 1) -> list[Sample]:
    """A process that warms up to 40 MB, wavers by half a MB, and keeps `per_match` bytes of each match."""
    rng = random.Random(seed)
    return [
        Sample(
            made, {"worker": int(40e6 * min(1, made / 20_000) + per_match * made + rng.uniform(-5e5, 5e5))}
        )
        for made in range(0, 100_001, 5_000)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_a_process_that_wavers_is_flat(seed):
    assert leaks(figures(0, seed), {"worker": 1.0}) == {}


@pytest.mark.parametrize("seed", range(10))
def test_one_small_object_a_match_is_a_leak(seed):
    assert "worker" in leaks(figures(160, seed), {"worker": 1.0})


def test_a_run_that_is_too_short_says_nothing():
    with pytest.raises(TooFew, match="48000"):
        leaks(figures(0)[:6], {"worker": 0.25})


def test_a_worker_is_judged_by_its_own_matches():
    assert "worker" in leaks(figures(40), {"worker": 0.25})
