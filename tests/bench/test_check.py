"""What is said of a move's cost beside the baseline's is what the figures say."""

import pytest

from bench.check import Baseline, _judged

BASELINE = Baseline(commit="abc", machine="a machine", cpu_per_1000={"plan": 0.4})


@pytest.mark.parametrize(
    ("cpu", "verdict"),
    [
        (0.36, "0.90 times the baseline, within the margin of 1.5"),
        (0.56, "1.40 times the baseline, within the margin of 1.5"),
        (0.64, "warning: 1.60 times the baseline, more than the margin of 1.5"),
    ],
)
def test_the_factor_is_told_and_whether_it_is_within_the_margin(cpu, verdict):
    assert _judged("plan", cpu, BASELINE).endswith(f"0.400 at abc: {verdict}")


def test_a_plan_that_the_baseline_lacks_is_said_to_be_unknown():
    assert "does not know" in _judged("another", 0.5, BASELINE)
