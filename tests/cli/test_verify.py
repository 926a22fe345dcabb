"""What `waystation verify` takes for a record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli import verify
from services.core.record import record_of
from tests.core.matches import Table, ruleset_for


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Exit code and first word for the record of a match after a change."""
    monkeypatch.setattr(verify, "ruleset_for", ruleset_for)
    table = Table().moves()

    def tell(change: Callable[[Any], object]) -> tuple[int, str]:
        record = msgspec.to_builtins(record_of(table.match, table.entries))
        change(record)
        (tmp_path / "record.json").write_bytes(msgspec.json.encode(record))
        return verify.print_verdict(tmp_path / "record.json"), capsys.readouterr().out.split()[0]

    return tell


def test_a_whole_record_is_true(told: Any) -> None:
    assert told(lambda record: None) == (0, "TRUE")


@pytest.mark.parametrize("member", ["format", "match", "title", "rules_version", "entries"])
def test_without_one_of_its_members_it_is_no_record(told: Any, member: str) -> None:
    assert told(lambda record: record.pop(member)) == (1, "no")


def test_with_a_member_more_it_is_no_record(told: Any) -> None:
    assert told(lambda record: record.update(winner="ann")) == (1, "no")
    assert told(lambda record: record["entries"][0].update(note="")) == (1, "no")


def test_a_title_or_rules_version_that_the_match_did_not_begin_with_is_false(told: Any) -> None:
    assert told(lambda record: record.update(title="wayfare")) == (1, "FALSE")
    assert told(lambda record: record.update(rules_version=2)) == (1, "FALSE")
