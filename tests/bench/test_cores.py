"""A process of the bench chooses its own core."""

import os
import subprocess
import sys

from bench.cores import stay_on

WHERE = "import os; from bench.cores import stay_on; stay_on({}); print(*sorted(os.sched_getaffinity(0)))"


def cores_after(core: int | None) -> set[int]:
    """Where a process may run that has chosen `core`."""
    run = [sys.executable, "-c", WHERE.format(core)]
    return set(map(int, subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()))


def test_a_process_keeps_to_the_core_that_it_chooses():
    last = max(os.sched_getaffinity(0))
    assert cores_after(last) == {last}


def test_without_a_choice_a_process_runs_where_its_parent_may():
    before = os.sched_getaffinity(0)
    stay_on(None)
    assert os.sched_getaffinity(0) == before
    assert cores_after(None) == before
