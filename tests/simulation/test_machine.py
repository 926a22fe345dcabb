"""A few of the runs that `make test-simulation` makes by the thousand, and the bugs that it must see."""

import re

import pytest

from tests.simulation.planted import PLANTS
from tests.simulation.running import run_batch

pytestmark = pytest.mark.slow

RUNS, STEPS = 40, 50
PLANTED_RUNS_MAX = 250


def test_every_promise_holds_after_every_step() -> None:
    batch = run_batch(2, RUNS, STEPS)
    if batch.error:
        raise batch.error


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_found_for_what_it_is(name: str) -> None:
    plant = PLANTS[name]
    batch = run_batch(3, PLANTED_RUNS_MAX, STEPS, shrinks=False, bug=plant.bug)
    assert re.search(plant.known_by, batch.fault), batch.fault or "not found"


def test_a_seed_leads_to_the_same_failure_again() -> None:
    first, again = (
        run_batch(4, PLANTED_RUNS_MAX, STEPS, shrinks=False, bug=PLANTS["no dedupe"].bug) for _ in range(2)
    )
    assert (first.runs, first.steps, first.fault) == (again.runs, again.steps, again.fault)
    assert first.fault
