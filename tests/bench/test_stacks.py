"""Profiles as tables, one for each file; what is no profile is named in one line."""

import sys

import pytest

from bench import stacks


def shown(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["stacks", *map(str, arguments)])
    stacks.main()


def test_each_file_has_a_table_under_its_name(tmp_path, monkeypatch, capsys):
    for name, function in (("one", "fold"), ("other", "append")):
        (tmp_path / f"{name}.stacks").write_text(f"main;{function} 3\nmain 1\n")
    shown(monkeypatch, tmp_path / "one.stacks", tmp_path / "other.stacks")
    one, _, other = capsys.readouterr().out.partition("other: 4 samples")
    assert "one: 4 samples" in one
    assert "75.0" in one
    assert ("fold" in one, "append" in one) == (True, False)
    assert ("fold" in other, "append" in other) == (False, True)


@pytest.mark.parametrize(
    ("text", "why"), [(None, "No such file"), ("# Some prose\n", "holds no stacks"), ("", "holds no samples")]
)
def test_what_is_no_profile_is_named_in_a_line(text, why, tmp_path, monkeypatch, capsys):
    file = tmp_path / "other.md"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SystemExit) as left:
        shown(monkeypatch, file)
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"bench.stacks: {file}")
    assert why in line
