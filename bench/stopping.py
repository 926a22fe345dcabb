"""Ctrl-C and SIGTERM end a bench in order: what it started is stopped, what it wrote for itself removed."""

import os
import signal
import sys
from types import FrameType


def tidies_up(prog: str) -> None:
    """From now on either signal says so in a line and unwinds the main thread; exit code 130 or 143."""
    signals = (signal.SIGINT, signal.SIGTERM)

    def stop(number: int, frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)  # a second one would leave the tidying up half done
        # Not print: the signal may have come within one.
        os.write(sys.stderr.fileno(), f"{prog}: stopped by {signal.Signals(number).name}\n".encode())
        raise SystemExit(128 + number)

    for each in signals:
        signal.signal(each, stop)
