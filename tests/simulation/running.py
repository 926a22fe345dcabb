"""Many runs of the machine from one seed, and what they found."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import NamedTuple

import structlog
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from services.core.errors import DomainError
from tests.simulation.machine import Machine

# One batch has one seed: a failing one is found again within this many runs.
BATCH_RUNS = 250


class Batch(NamedTuple):
    """`fault`: the first line of what was broken; empty if every promise held. `error`: the whole of it."""

    seed: int
    runs: int
    steps: int
    seconds: float
    fault: str = ""
    error: BaseException | None = None


def run_batch(
    number: int,
    runs: int,
    steps: int,
    *,
    shrinks: bool = True,
    bug: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Batch:
    """`runs` runs of up to `steps` steps, chosen by the seed `number`; all the same when it is called again.

    `shrinks`: whether a failing run is shortened before it is reported. `bug`: in force meanwhile.
    """
    chosen = settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink) if shrinks else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    # Every line that a worker logs would be kept for the report of a failure, by the million.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    began, runs_before, steps_before = perf_counter(), Machine.runs, Machine.steps
    error: BaseException | None = None
    try:
        with bug():
            run_state_machine_as_test(seed(number)(type("Machine", (Machine,), {})), settings=chosen)
    except (AssertionError, DomainError, LookupError) as broken:
        error = broken
    finally:
        structlog.reset_defaults()
    fault = f"{type(error).__name__}: {error}".splitlines()[0] if error else ""
    done = Machine.runs - runs_before, Machine.steps - steps_before
    return Batch(number, *done, perf_counter() - began, fault, error)
