"""The numbers that a command of the bench takes: types for argparse, which refuses others at once."""

from argparse import ArgumentTypeError
from collections.abc import Callable

SECONDS_MIN, SECONDS_MAX = 0.1, 600.0  # fewer give no percentiles; all moves are prepared in advance


def seconds(text: str) -> float:
    """How long moves are sent for."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not SECONDS_MIN <= found <= SECONDS_MAX:  # false for "nan" as well
        raise ArgumentTypeError(f"{text!r} is no number from {SECONDS_MIN} to {SECONDS_MAX:.0f}")
    return found


def whole(least: int, most: int) -> Callable[[str], int]:
    """A type of whole numbers from `least` to `most`."""

    def read(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = least - 1
        if not least <= found <= most:
            raise ArgumentTypeError(f"{text!r} is no whole number from {least:,} to {most:,}")
        return found

    return read
