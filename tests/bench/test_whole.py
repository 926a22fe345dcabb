"""A very short run of the whole: a system, matches at rest, long matches, moves timed."""

import pytest

from bench import rest, whole
from bench.plans import SPAN, Plan


@pytest.mark.slow
def test_long_matches_are_timed_beside_idle_ones(monkeypatch):
    monkeypatch.setattr(rest, "REST_S", 0.1)
    plan = Plan(title="a_way", matches=2, first=200, idle=3, seconds=60.0)
    found = whole.run([plan], is_pinned=False, with_history=False)
    (result,), (at_rest,) = found.results, found.rests
    assert result.moves == plan.matches * SPAN
    assert result.cpu_s.keys() == at_rest.cpu_s.keys()
    assert at_rest.matches == 3
    assert at_rest.redis_bytes > 1_000
