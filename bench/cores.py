"""Which core a process of the bench runs on (Linux).

A process chooses for itself, first of all: between fork and exec of one with threads no Python may run.
"""

import os

SERVERS, GENERATOR = 0, 1


def stay_on(core: int | None) -> None:
    """Keeps this process, and those it starts from now on, to one core. None: where it may run already."""
    if core is not None:
        os.sched_setaffinity(0, {core})
