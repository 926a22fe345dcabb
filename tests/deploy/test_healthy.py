import os
import subprocess
import sys

import pytest

from deploy.local.system import ROOT


@pytest.mark.parametrize(("arguments", "port"), [(["rpc"], ""), ([], "50051")])
def test_a_health_check_that_is_told_too_little_says_what_is_missing(arguments: list[str], port: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "deploy" / "images" / "healthy.py", *arguments],
        env={**os.environ, "PORT": port},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "healthy: PORT must be set, and the service named\n")
