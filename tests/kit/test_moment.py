"""How far a caller's clock is believed."""

import pytest

from services.core.clock import GRACE_MS
from services.kit.moment import believed

NOW = 1_800_000_000_000
# What a caller says it is, and what is taken for true, both from now on.
TOLD = [(-GRACE_MS - 1, -GRACE_MS), (-GRACE_MS, -GRACE_MS), (-1, -1), (0, 0), (1, 0), (10**9, 0)]


@pytest.mark.parametrize(("told", "taken"), TOLD)
def test_a_time_is_believed_back_to_the_grace_of_a_flag_and_never_ahead(told: int, taken: int) -> None:
    assert believed(NOW + told, NOW) == NOW + taken
