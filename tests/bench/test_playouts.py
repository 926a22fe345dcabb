"""The rules alone: which titles are played, and what is asked wrongly."""

import sys

import pytest

from bench import playouts
from bench.cases import CASES


def played(monkeypatch, *arguments):
    """The cases that are measured when the command is asked so."""
    found = []
    monkeypatch.setattr(sys, "argv", ["playouts", *arguments])
    monkeypatch.setattr(playouts, "_show", found.extend)
    monkeypatch.setattr(playouts.stopping, "tidies_up", lambda prog: None)
    playouts.main()
    return found


def test_only_the_titles_named_are_played_and_without_any_all(monkeypatch):
    assert {case.title.slug for case in played(monkeypatch, "wayfare")} == {"wayfare"}
    assert played(monkeypatch) == CASES


@pytest.mark.parametrize("wrong", ["nosuch", "--frob"])
def test_what_is_no_title_is_refused_by_name(wrong, monkeypatch, capsys):
    with pytest.raises(SystemExit) as left:
        played(monkeypatch, "wayfare", wrong)
    assert left.value.code == 2
    assert wrong in capsys.readouterr().err.splitlines()[-1]


def test_an_unknown_title_is_answered_with_the_known_ones(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        played(monkeypatch, "nosuch")
    said = capsys.readouterr().err
    assert all(case.title.slug in said for case in CASES)
