"""`waystation verify`: a finished match's record, proved with nothing but this file and the title's rules."""

import sys
from pathlib import Path

from cli.titles import ruleset_for
from services.core.errors import BadRequest, DomainError
from services.core.record import read_record, verify


def print_verdict(path: Path) -> int:
    """Prints one line; 0 if the record holds, 1 if it does not or cannot be read. `-`: standard input."""
    try:
        record = read_record(sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes())
        steps = verify(record, ruleset_for)
    except OSError as error:
        print(f"cannot read {path}: {error.strerror}")
        return 1
    except BadRequest as error:
        print(f"no record: {error}")
        return 1
    except DomainError as error:
        print(f"FALSE  {error}")
        return 1
    outcome = steps[-1].match.outcome
    assert outcome is not None, "a record is of a finished match"
    winners = ", ".join(steps[-1].match.started.seats[seat].player for seat in outcome.winners) or "nobody"
    print(f"TRUE   {record.title} {record.match}: {len(steps)} versions, won by {winners} ({outcome.reason})")
    return 0
