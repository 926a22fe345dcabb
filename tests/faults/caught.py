"""Whether a run with a planted bug was failed for the reason that the bug is known by."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tests.faults.fire import Report

PLANT_SECONDS = 12.0

# Plant -> what must be among the findings.
REASONS: Mapping[str, str] = {
    "acknowledge before append": r"^lost: ",
    "no version check": r"does not match its hash|goes on with version|says that it is version",
    "no dedupe": r"^doubled: |repeated after version|used again",
    "publish before store": r"was shown, and is not stored|was shown something else",
}


class Caught(NamedTuple):
    """`line`: for a person."""

    is_caught: bool
    line: str


def caught(report: Report) -> Caught:
    plant = report.plan.plant
    found = [line for line in _findings(report) if re.search(REASONS[plant], line)]
    others = sum(1 for _ in _findings(report)) - len(found)
    said = f"caught, {len(found)} times ({others} other findings): {found[0]}" if found else "NOT CAUGHT"
    line = f"planted {plant!r} (seed {report.plan.seed}, {report.seconds:.0f} s): {said}"
    return Caught(bool(found), line)


def _findings(report: Report) -> Iterator[str]:
    verdict = report.verdict
    for told in verdict.lost:
        yield f"lost: {told.stream} was told version {told.version}, which is not there as told"
    for told in verdict.doubled:
        yield f"doubled: {told.stream} holds the request of version {told.version} twice"
    yield from verdict.wrong
