"""`waystation verify`: a finished match's record, proved with nothing but this file and the title's rules."""

from cli.titles import ruleset_for
from services.core.errors import DomainError
from services.core.record import read_record, verify


def print_verdict(raw: bytes) -> int:
    """Prints one line; 0 if the record holds, 1 if it does not."""
    try:
        record = read_record(raw)
        steps = verify(record, ruleset_for)
    except DomainError as error:
        print(f"FALSE  {error}")
        return 1
    outcome = steps[-1].match.outcome
    assert outcome is not None, "a record is of a finished match"
    winners = ", ".join(steps[-1].match.started.seats[seat].player for seat in outcome.winners) or "nobody"
    print(f"TRUE   {record.title} {record.match}: {len(steps)} versions, won by {winners} ({outcome.reason})")
    return 0
