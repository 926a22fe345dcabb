"""Python loads this first in every service of a bench that profiles: where its CPU time goes, by stacks.

A sample is taken for every tick of CPU time that the process uses, so waiting for the core does not count,
and what a call of the kernel costs is found at the line that makes it. SIGUSR1 begins; SIGUSR2 writes the
stacks to the file that BENCH_STACKS names, one a line with its samples, outermost frame first.
"""

import os
import signal
import sys
from collections import Counter
from types import CodeType, FrameType

TICK_S = 0.001  # the kernel rounds it up to its own, often 0.004

_samples: Counter[tuple[CodeType, ...]] = Counter()


def _name() -> str:
    """As the bench calls this process: "gateway", "rules-make_way"."""
    module = sys.orig_argv[-1].rpartition(".")[2]
    return f"{module}-{os.environ['TITLE']}" if "TITLE" in os.environ else module


def _take(number: int, frame: FrameType | None) -> None:
    stack = []
    while frame is not None:
        stack.append(frame.f_code)
        frame = frame.f_back
    _samples[tuple(stack)] += 1


def _begin(number: int, frame: FrameType | None) -> None:
    _samples.clear()
    signal.setitimer(signal.ITIMER_PROF, TICK_S, TICK_S)


def _end(number: int, frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    unfinished = os.environ["BENCH_STACKS"] + ".unfinished"
    with open(unfinished, "w") as file:
        for stack, samples in _samples.items():
            file.write(";".join([_written(code) for code in reversed(stack)]) + f" {samples}\n")
    os.replace(unfinished, os.environ["BENCH_STACKS"])


def _written(code: CodeType) -> str:
    """Function and file, as flame graphs show them."""
    return f"{code.co_qualname} ({'/'.join(code.co_filename.split('/')[-2:])})".replace(" ", "_")


if os.environ.get("BENCH_PROFILE") == _name():
    signal.signal(signal.SIGPROF, _take)
    signal.signal(signal.SIGUSR1, _begin)
    signal.signal(signal.SIGUSR2, _end)
