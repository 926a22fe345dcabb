"""Clocks, as a pure function of the stream: only the `at` of its events counts.

Storage format: `Clock` is part of a match's first event.
"""

from typing import Annotated

from msgspec import Meta, Struct

from services.core.errors import BadRequest

# A flag falls only this long after the deadline: the `at` of a command may lie that far in the
# past (a worker accepts no older one), so a move made in time is never overtaken by the flag.
GRACE_MS = 5_000

DAY_MS = 24 * 60 * 60 * 1000
_Allowance = Annotated[int, Meta(ge=1_000, le=60 * DAY_MS)]


class Fischer(Struct, frozen=True, tag_field="kind", tag="fischer", forbid_unknown_fields=True):
    """Each seat has `initial_ms` for the match and gains `increment_ms` with each finished turn."""

    initial_ms: _Allowance
    increment_ms: Annotated[int, Meta(ge=0, le=DAY_MS)] = 0


class PerTurn(Struct, frozen=True, tag_field="kind", tag="per_turn", forbid_unknown_fields=True):
    """Each seat has `turn_ms` for every turn: play by correspondence."""

    turn_ms: _Allowance


Clock = Fischer | PerTurn
Remaining = tuple[int, ...]  # ms left, by seat


def wound_up(clock: Clock | None, seats: int) -> Remaining:
    """The time each seat starts with; empty without a clock."""
    match clock:
        case None:
            return ()
        case Fischer(initial_ms=allowance) | PerTurn(turn_ms=allowance):
            return (allowance,) * seats


def elapsed(remaining: Remaining, to_act: frozenset[int], spent_ms: int) -> Remaining:
    """The time left after `spent_ms` on the clocks of the seats that were to act; never below 0."""
    if not remaining:
        return remaining
    return tuple(max(0, ms - spent_ms) if seat in to_act else ms for seat, ms in enumerate(remaining))


def credited(clock: Clock | None, remaining: Remaining, seat: int) -> Remaining:
    """The time left after `seat` has finished its turn."""
    match clock:
        case None:
            return remaining
        case Fischer(increment_ms=gain):
            ms = remaining[seat] + gain
        case PerTurn(turn_ms=ms):
            pass
    return (*remaining[:seat], ms, *remaining[seat + 1 :])


def first_to_fall(remaining: Remaining, to_act: frozenset[int], at: int) -> tuple[int, int] | None:
    """(seat, UTC ms) of the next flag if nothing happens after `at`; None if no clock runs."""
    if not remaining or not to_act:
        return None
    seat = min(to_act, key=lambda seat: (remaining[seat], seat))
    return seat, at + remaining[seat]


def checked(clock: Clock | None) -> Clock | None:
    """`clock` as it is. Raises BadRequest for an increment larger than the allowance."""
    if isinstance(clock, Fischer) and clock.increment_ms > clock.initial_ms:
        raise BadRequest("clock", "increment_ms is larger than initial_ms")
    return clock
