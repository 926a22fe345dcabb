"""A fifth title is one folder (and its texts under seeds): dropped into a copy of the tree, it just works."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("services", "gateway", "cli", "deploy", "gen", "seeds", "tests", "docs", "pyproject.toml")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the toy title dropped in, and no other file touched."""
    copy = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    toy = ROOT / "tests" / "toy"
    shutil.copytree(toy / "titles" / "high_card", copy / "services" / "titles" / "high_card")
    shutil.copytree(toy / "seeds" / "high_card", copy / "seeds" / "high_card")
    return copy


def run(tree, *command):
    """Runs a module in the copy, where its own packages come before the installed ones."""
    env = {"PYTHONPATH": f"{tree}:{tree / 'gen'}", "PATH": str(Path(sys.executable).parent)}
    done = subprocess.run(
        [sys.executable, *command], cwd=tree, env=env, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


SERVED = """
import sys
from pathlib import Path
from deploy.local.servers import free_port
from deploy.local.system import System, shipped_titles
import subprocess
assert "high_card" in shipped_titles()
system = System(data=Path("data"), workers={"high_card": 1}, ports=[free_port()])
system.start()
try:
    script = [sys.executable, "docs/first_match.py", "high_card", system.url]
    subprocess.run(script, check=True, timeout=120)
finally:
    system.stop()
"""


@pytest.mark.slow
def test_a_match_of_a_new_title_is_played_through_the_gateway(tree):
    assert "over: {'winners': [" in run(tree, "-c", SERVED)


@pytest.mark.slow
def test_a_new_title_keeps_its_secrets_by_the_suite_untouched(tree):
    suites = ("tests/titles/test_secrecy.py", "tests/titles/test_secrecy_of_workers.py")
    out = run(tree, "-m", "pytest", "-q", "-k", "high_card", *suites)
    assert " passed" in out
    assert "skipped" not in out


@pytest.mark.slow
def test_a_new_title_passes_the_conformance_suite_untouched(tree):
    out = run(tree, "-m", "pytest", "-q", "-k", "high_card", "tests/titles/test_conformance.py")
    assert " passed" in out
    assert "skipped" not in out
