"""`waystation run` as a person meets it: what a run that was killed leaves is in nobody's way."""

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import run
from deploy.local.servers import free_port
from deploy.local.system import ROOT, System, SystemFailure

HOST = "127.0.0.1"


def waystation(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cli.main", *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, env={}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def served(data: Path, port: int) -> subprocess.Popen[str]:
    """A run, once it serves."""
    running = waystation("run", "--data", str(data), "--port", str(port))
    assert running.stdout is not None
    said = [running.stdout.readline(), running.stdout.readline()]
    assert said[1].startswith("waystation: serving "), said
    return running


def ended(running: subprocess.Popen[str], number: signal.Signals) -> int:
    running.send_signal(number)
    running.communicate(timeout=60)
    return running.returncode


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can end a child with its parent")
def test_after_a_run_was_killed_commands_say_so_and_the_next_run_serves(tmp_path: Path) -> None:
    port = free_port()
    assert ended(served(tmp_path, port), signal.SIGKILL) == -signal.SIGKILL
    out, _ = waystation("rebuild", "--data", str(tmp_path)).communicate(timeout=60)
    assert f"no run is going on in {tmp_path} (the last one ended without tidying up)" in out
    assert out.count("\n") == 1
    again = served(tmp_path, port)
    assert ended(again, signal.SIGTERM) == 0
    assert not (tmp_path / "run.json").exists()


def test_a_port_that_a_run_before_is_about_to_give_up_is_waited_for() -> None:
    with socket.create_server((HOST, 0)) as left:
        port = left.getsockname()[1]
        with pytest.raises(SystemFailure, match=f"port {port} of {HOST} is taken"):
            run._refuse_taken(HOST, port)
        ending = threading.Timer(0.2, left.close)
        ending.start()
        run._refuse_taken(HOST, port, wait_s=60)
        ending.join()


@pytest.fixture
def signals_as_before() -> Iterator[None]:
    """`run` handles them in its own way."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals_as_before")
def test_port_0_is_a_free_port_of_which_the_system_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[System] = []
    monkeypatch.setattr(run, "_serve", served.append)
    assert run.run(host="127.0.0.1", port=0, data=tmp_path, ephemeral=False, workers=1, fsync="everysec") == 0
    assert served[0].ports[0] > 0
