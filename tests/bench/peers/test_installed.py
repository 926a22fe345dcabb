"""Without a Node to run them on, the peers are not measured, and the command says why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.peers import installed


def test_without_node_the_command_says_so_and_fails(tmp_path: Path) -> None:
    asked = (sys.executable, "-m", "bench.peers")
    env = os.environ | {"PATH": str(tmp_path)}
    ran = subprocess.run(asked, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert ran.stderr == "make bench-peers: no node and no npm here; peers need Node 20 or later with npm\n"


def test_npm_alone_is_told_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(tmp_path / "node", "v22.1.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(installed.Missing, match=r"^no npm here;"):
        installed.check_node()


def test_an_old_node_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(tmp_path / "node", "v18.19.0")
    _put(tmp_path / "npm", "9.2.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(installed.Missing, match=r"^Node v18\.19\.0 is too old"):
        installed.check_node()


def test_a_failed_install_is_tried_again_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, folder = tmp_path / "tools", tmp_path / "peers"
    tools.mkdir()
    (tools / "npm").symlink_to("/bin/false")
    monkeypatch.setenv("PATH", str(tools))
    for _ in range(2):
        with pytest.raises(installed.Missing, match="npm could not install"):
            installed.install(folder)
    (tools / "npm").unlink()
    (tools / "npm").symlink_to("/bin/true")
    installed.install(folder)
    (tools / "npm").unlink()  # it is not asked again
    installed.install(folder)
    assert (folder / "generator.js").exists()


def _put(tool: Path, version: str) -> None:
    tool.write_text(f"#!/bin/sh\necho {version}\n")
    tool.chmod(0o755)
