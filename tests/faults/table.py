"""The one table that a run prints: every fault, how often, and what became of the commands it met."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.faults.fire import Report
from tests.faults.history import Fate, Told
from tests.faults.nemesis import Injected
from tests.faults.rolling import Window

HEADINGS = ("fault", "injected", "in flight", "acked", "tail", "lost", "doubled", "worst recovery")
WIDTHS = (36, 8, 9, 8, 6, 6, 7, 14)
AFTERMATH_S = 10.0  # a loss is put down to every fault this long before the lost command's answer
COMMAND_S_MAX = 120.0
RETRIES_MAX = 1  # what the API asks of clients while services are rolled
STALL_AFTERMATH_S = 2.0
WRONG_SHOWN = 20


@dataclass
class Row:
    """`in_flight`: commands sent and not yet answered when the fault came. Seconds: the worst recovery."""

    injected: int = 0
    in_flight: int = 0
    acknowledged: int = 0
    tail: int = 0
    lost: int = 0
    doubled: int = 0
    recovery_s: float = 0.0
    harm: int | None = None

    def add(self, group: Sequence[Injected], met: "Met") -> None:
        hit = [told for injected in group for told in met.in_flight(injected.at)]
        self.injected += len(group)
        self.in_flight += len(hit)
        self.acknowledged += sum(told.fate is Fate.OK for told in hit)
        self.tail += sum(_near(told, group) for told in met.verdict.tail)
        self.lost += sum(_near(told, group) for told in met.verdict.lost)
        self.doubled += sum(_near(told, group) for told in met.verdict.doubled)
        self.recovery_s = max(self.recovery_s, met.worst_recovery(group))
        for harm in (injected.harm for injected in group):
            if harm is not None:
                self.harm = (self.harm or 0) + harm


class Met:
    """The commands of one report, in order, for faults to be held against."""

    def __init__(self, report: Report) -> None:
        self.verdict = report.verdict
        self._commands = sorted(report.history.commands, key=lambda told: told.invoked)
        self._receipts: dict[int, list[float]] = defaultdict(list)  # by client, when they came
        for told in report.history.of(Fate.OK):
            self._receipts[told.client].append(told.answered)
        for times in self._receipts.values():
            times.sort()

    def in_flight(self, at: float) -> list[Told]:
        """The commands that were sent and not answered at that moment."""
        first = bisect_left(self._commands, at - COMMAND_S_MAX, key=lambda told: told.invoked)
        last = bisect_right(self._commands, at, key=lambda told: told.invoked)
        return [told for told in self._commands[first:last] if not told.answered or told.answered > at]

    def worst_recovery(self, group: Sequence[Injected]) -> float:
        """The longest that any client waited for its next receipt after one of these faults, in seconds."""
        waits = [
            times[next_] - injected.at
            for injected in group
            for times in self._receipts.values()
            if 0 < (next_ := bisect_right(times, injected.at)) < len(times)
        ]
        return max(waits, default=0.0)


@dataclass
class Totals:
    """Over all halves of a run. `failed`: commands that one repetition did not save from a rolled service."""

    faults: int
    acknowledged: int
    tail: int
    lost: int
    doubled: int
    rolled: int
    repeated: int
    failed: int
    stalls: int


def totals(reports: Sequence[Report]) -> Totals:
    rolled = [told for report in reports for told in _while_rolled(report)]
    return Totals(
        faults=sum(len(report.injected) for report in reports),
        acknowledged=sum(report.verdict.acknowledged for report in reports),
        tail=sum(len(report.verdict.tail) for report in reports),
        lost=sum(len(report.verdict.lost) for report in reports),
        doubled=sum(len(report.verdict.doubled) for report in reports),
        rolled=len(rolled),
        repeated=sum(told.attempts > 1 for told in rolled),
        failed=sum(_has_failed(told) for told in rolled),
        stalls=sum(len(rolled.stalls) for report in reports for rolled in report.rolled),
    )


def table(reports: Sequence[Report]) -> str:
    """One line a fault over all of `reports`, the totals, and a line on each of them."""
    rows: dict[str, Row] = defaultdict(Row)
    for report in reports:
        met = Met(report)
        by_fault: dict[str, list[Injected]] = defaultdict(list)
        for injected in report.injected:
            by_fault[injected.fault].append(injected)
        for fault, group in by_fault.items():
            rows[fault].add(group, met)
    found = totals(reports)
    worst = max((row.recovery_s for row in rows.values()), default=0.0)
    lines = [_line(HEADINGS), *(_line(_cells(fault, row)) for fault, row in sorted(rows.items()))]
    in_all = ("all", found.faults, "", found.acknowledged, found.tail, found.lost, found.doubled)
    lines.append(_line((*in_all, f"{worst:.1f} s")))
    lines += [
        f"rolling restarts: {found.rolled} commands, {found.repeated} repeated, "
        f"failed after one retry: {found.failed}"
        + (f"; the store stood still {found.stalls} times, not counted" if found.stalls else ""),
        _races(reports),
        *(f"{fault}: {row.harm} {HARMS[fault]}" for fault, row in sorted(rows.items()) if fault in HARMS),
        *(_half(report) for report in reports),
    ]
    return "\n".join(lines)


# What faults that count their harm count.
HARMS = {
    "connections reset in mid-request": "requests were under way on them",
    "events delivered again, late": "events",
    "Valkey lost its last second": "bytes of its log",
}


def _races(reports: Sequence[Report]) -> str:
    """How two workers fought for matches: each race is two moves at one version, at two workers at once."""
    races = [pair for report in reports for pair in report.history.races]
    won: dict[str, set[str]] = defaultdict(set)
    for told in (told for pair in races for told in pair if told.fate is Fate.OK):
        won[told.stream].add(told.worker)
    decided = sum(one.fate != other.fate for one, other in races)
    both = sum(len(workers) > 1 for workers in won.values())
    return (
        f"two workers at one match: {len(races)} races, one move stored and one refused in {decided}; "
        f"both workers stored moves in {both} of {len(won)} matches"
    )


def _half(report: Report) -> str:
    verdict, plan = report.verdict, report.plan
    lines = [
        f"seed {plan.seed}, appendfsync {plan.fsync}, {report.seconds:.0f} s: {len(report.injected)} faults, "
        f"{verdict.acknowledged} acknowledged, {verdict.refused} refused, {verdict.unknown} unknown "
        f"({verdict.unknown_stored} of them stored), {report.history.repeats} repeated, "
        f"{verdict.events} events, {verdict.views} views compared, "
        f"read models level after {verdict.late_s:.1f} s, {report.again} starts met no store",
    ]
    if plan.fsync == "everysec":
        lines.append(
            f"  of tails that the store lost: {len(verdict.tail)} acknowledged commands, "
            f"{verdict.tail_views} views; {len(verdict.uneven)} matches not level before a rebuild"
        )
    lines += [f"LOST: {_told(told)}" for told in verdict.lost[:WRONG_SHOWN]]
    lines += [f"DOUBLED: {_told(told)}" for told in verdict.doubled[:WRONG_SHOWN]]
    lines += [f"WRONG: {line}" for line in verdict.wrong[:WRONG_SHOWN]]
    lines += [f"FAILED: {_told(told)}" for told in _while_rolled(report) if _has_failed(told)]
    return "\n".join(lines)


def _told(told: Told) -> str:
    return (
        f"{told.stream} version {told.version} by {told.via}, sent {told.attempts} times "
        f"within {told.answered - told.invoked:.1f} s, {told.fate.value} {told.reason} "
        + "; ".join(told.trail)
    )


def _while_rolled(report: Report) -> list[Told]:
    """The commands that clients of the API first sent while services were rolled, and the store answered.

    Duels speak to workers themselves: what a gateway does about one that leaves is not theirs.
    """
    return [
        told
        for told in report.history.commands
        for rolled in report.rolled
        if told.via != "duel" and rolled.window.began <= told.invoked < rolled.window.ended
        if not any(_met(told, stall) for stall in rolled.stalls)
    ]


def _met(told: Told, stall: Window) -> bool:
    """Whether a stall, or what was left undone after it, may have held the command up."""
    answered = told.answered or told.invoked + COMMAND_S_MAX
    return told.invoked < stall.ended + STALL_AFTERMATH_S and answered > stall.began


def _has_failed(told: Told) -> bool:
    return told.attempts > 1 + RETRIES_MAX or told.fate is Fate.UNKNOWN


def _cells(fault: str, row: Row) -> tuple[object, ...]:
    counts = (row.injected, row.in_flight, row.acknowledged, row.tail, row.lost, row.doubled)
    return (fault, *counts, f"{row.recovery_s:.1f} s")


def _near(told: Told, group: Sequence[Injected]) -> bool:
    return any(injected.at - AFTERMATH_S < told.answered < injected.at + AFTERMATH_S for injected in group)


def _line(cells: Sequence[object]) -> str:
    first, *rest = (
        f"{cell!s:<{width}}" if n == 0 else f"{cell!s:>{width}}"
        for n, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    )
    return "  ".join((first, *rest))
