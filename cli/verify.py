"""`waystation verify`: a finished match's record, proved with nothing but this file and the title's rules."""

import sys
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from cli.titles import ruleset_for
from services.core.errors import BadRequest, DomainError
from services.core.record import Record, read_record, verify


class _EntryMembers(Struct, forbid_unknown_fields=True):
    """All that an entry of a record has; `Record` says what they are."""

    body: Raw
    hash: Raw


class _Members(Struct, forbid_unknown_fields=True):
    """All that a record has, each of them required. More would be something that nothing proves."""

    format: Raw
    match: Raw
    title: Raw
    rules_version: Raw
    entries: list[_EntryMembers]


def print_verdict(path: Path) -> int:
    """Prints one line; 0 if the record holds, 1 if it does not or cannot be read. `-`: standard input."""
    try:
        record = _read(sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes())
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
    started = steps[-1].match.started
    if (record.title, record.rules_version) != (started.title, started.rules_version):
        print(f"FALSE  the match began as {started.title}, rules version {started.rules_version}")
        return 1
    outcome = steps[-1].match.outcome
    assert outcome is not None, "a record is of a finished match"
    winners = ", ".join(started.seats[seat].player for seat in outcome.winners) or "nobody"
    print(f"TRUE   {record.title} {record.match}: {len(steps)} versions, won by {winners} ({outcome.reason})")
    return 0


def _read(raw: bytes) -> Record:
    """Raises BadRequest for what is no record, or has members that the format lacks."""
    try:
        msgspec.json.decode(raw, type=_Members)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRequest("record", str(error)) from error
    return read_record(raw)
