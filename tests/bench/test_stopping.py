"""A bench that is told to stop removes what it has put aside, and says in one line why it ends."""

import signal
import subprocess
import sys

import pytest

HOLDING = """
import tempfile, time
from bench.stopping import tidies_up
tidies_up("make bench")
with tempfile.TemporaryDirectory(dir={folder!r}):
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_tidies_up_and_is_told_by_line_and_exit_code(number, code, tmp_path):
    command = [sys.executable, "-c", HOLDING.format(folder=str(tmp_path))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bench:
        assert bench.stdout.readline() == "ready\n"
        assert len(list(tmp_path.iterdir())) == 1
        bench.send_signal(number)
        _, said = bench.communicate(timeout=30)
    assert bench.returncode == code
    assert said == f"make bench: stopped by {number.name}\n"
    assert list(tmp_path.iterdir()) == []
