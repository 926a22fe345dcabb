"""A very short run of the whole: a system, matches at rest, long matches, moves timed."""

from argparse import Namespace

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


def test_each_kind_of_run_and_each_choice_of_plans_has_a_file_of_its_own():
    quick = {"full": False, "scaling": False, "idle": None, "plan": ""}
    asked = [{}, {"plan": "make_way ws"}, {"full": True}, {"scaling": True}, {"idle": []}]
    stems = [whole._stem(Namespace(**quick | choice)) for choice in asked]
    assert stems == ["whole", "whole-make_way-ws", "full", "scaling", "idle"]
