"""What the README tells a newcomer to type, typed: the curl match, the script, replay and verify."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def shell(script: str, **env: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **env},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_curl_match_of_the_readme_makes_a_move(system):
    (block,) = re.findall(r"```sh\n(api=.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    out = shell(block.replace("http://127.0.0.1:8080", system.url) + "\necho; echo match $match")
    documents = [json.loads(line) for line in re.findall(r"^\{.*?\}(?=\{|$)", out, re.MULTILINE)]
    assert documents
    assert '"type":"move_made","version":2' in out
    assert "/errors/" not in out


def test_a_browser_without_a_path_is_shown_the_documentation(system):
    out = shell(f"curl -sL -w '%{{url_effective}}' {system.url}/")
    assert out.endswith("/docs")
    assert "/v1/matches" in out


def test_a_wrong_query_parameter_is_called_what_the_client_called_it(system):
    problem = json.loads(shell(f"curl -s '{system.url}/v1/matches/m/events?from=-5'"))
    assert (problem["reason"], problem["field"]) == ("BAD_REQUEST", "from")


@pytest.mark.parametrize("title", ["make_way", "wayfare"])
def test_the_script_plays_a_match_which_replays_and_whose_record_verifies(system, title, tmp_path):
    played = shell(f"python docs/first_match.py {title} {system.url}")
    (match,) = re.findall(r"make replay MATCH=(\w+)", played)
    moves = len(re.findall(r"^version ", played, re.MULTILINE))

    replayed = shell(f"waystation replay {match}", REDIS_URL=system.redis_url)
    assert len(re.findall(r"^-- version ", replayed, re.MULTILINE)) == moves + 1
    assert f"TRUE   {moves + 1} versions" in replayed

    record = tmp_path / "record.json"
    shell(f"curl -sf {system.url}/v1/matches/{match}/record > {record}")
    assert shell(f"waystation verify {record}").startswith(f"TRUE   {title} {match}: {moves + 1} versions")
    record.write_text(record.read_text().replace('\\"by\\":0', '\\"by\\":1', 1))
    lied = subprocess.run(
        [sys.executable, "-m", "cli.main", "verify", str(record)], cwd=ROOT, capture_output=True, text=True
    )
    assert lied.returncode == 1
    assert lied.stdout.startswith("FALSE ")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("replay nosuch", "no match nosuch"),
        ("verify nofile.json", "cannot read nofile.json: No such file"),
        ("run --port 99999", "Must be <= 65535"),
        ("record-match nosuch", "no title nosuch"),
    ],
)
def test_a_command_that_cannot_be_carried_out_says_why_without_a_traceback(system, command, says):
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *command.split()],
        cwd=ROOT,
        env={**os.environ, "REDIS_URL": system.redis_url},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
