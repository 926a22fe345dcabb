"""The table that a run prints."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence

from tests.faults.fire import Report
from tests.faults.history import Fate, Told
from tests.faults.nemesis import Injected

HEADINGS = ("fault", "injected", "in flight", "acknowledged", "lost", "doubled", "worst recovery")
WIDTHS = (36, 8, 9, 12, 6, 7, 14)
AFTERMATH_S = 10.0  # a loss is put down to every fault this long before the lost command's answer
COMMAND_S_MAX = 120.0


def table(report: Report) -> str:
    """One line a fault, then the totals, the seed, and what was wrong."""
    lines = [_line(HEADINGS)]
    by_fault: dict[str, list[Injected]] = defaultdict(list)
    for injected in report.injected:
        by_fault[injected.fault].append(injected)
    lines += [_line(_row(fault, group, report)) for fault, group in sorted(by_fault.items())]
    verdict, plan = report.verdict, report.plan
    worst = _worst_recovery(report.injected, report.history.commands)
    lines.append(
        _line(
            (
                "all",
                len(report.injected),
                "",
                verdict.acknowledged,
                len(verdict.lost),
                len(verdict.doubled),
                f"{worst:.1f} s",
            )
        )
    )
    lines.append(
        f"seed {plan.seed}, appendfsync {plan.fsync}, {report.seconds:.0f} s: {verdict.events} events, "
        f"{verdict.refused} refused, {verdict.unknown} unknown ({verdict.unknown_stored} of them stored), "
        f"{report.history.repeats} repeated, {verdict.views} views compared, "
        f"read models level after {verdict.late_s:.1f} s"
    )
    lines += [f"WRONG: {line}" for line in verdict.wrong[:20]]
    return "\n".join(lines)


def _row(fault: str, group: list[Injected], report: Report) -> tuple[object, ...]:
    commands = sorted(report.history.commands, key=lambda told: told.invoked)
    hit = [told for injected in group for told in _in_flight(injected.at, commands)]
    return (
        fault,
        len(group),
        len(hit),
        sum(told.fate is Fate.OK for told in hit),
        sum(_near(told, group) for told in report.verdict.lost),
        sum(_near(told, group) for told in report.verdict.doubled),
        f"{_worst_recovery(group, commands):.1f} s",
    )


def _in_flight(at: float, commands: list[Told]) -> list[Told]:
    """The commands that were sent and not answered at that moment."""
    first = bisect_left(commands, at - COMMAND_S_MAX, key=lambda told: told.invoked)
    last = bisect_right(commands, at, key=lambda told: told.invoked)
    return [told for told in commands[first:last] if not told.answered or told.answered > at]


def _near(told: Told, group: list[Injected]) -> bool:
    return any(injected.at - AFTERMATH_S < told.answered < injected.at + AFTERMATH_S for injected in group)


def _worst_recovery(group: list[Injected], commands: Sequence[Told]) -> float:
    """The longest that any client waited for its next receipt after a fault, in seconds."""
    receipts: dict[int, list[float]] = defaultdict(list)
    for told in commands:
        if told.fate is Fate.OK:
            receipts[told.client].append(told.answered)
    for times in receipts.values():
        times.sort()
    waits = [
        times[next_] - injected.at
        for injected in group
        for times in receipts.values()
        if 0 < (next_ := bisect_right(times, injected.at)) < len(times)
    ]
    return max(waits, default=0.0)


def _line(cells: Sequence[object]) -> str:
    first, *rest = (
        f"{cell!s:<{width}}" if n == 0 else f"{cell!s:>{width}}"
        for n, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    )
    return "  ".join((first, *rest))
