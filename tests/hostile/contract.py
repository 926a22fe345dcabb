"""`python -m tests.hostile.contract`: schemathesis over the served OpenAPI document, links and all.

Runs a system of its own, prints the seed, what is not checked and why, and how often each operation answered
with what; ends with 1 when anything answered otherwise than the document says.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

from deploy.local.system import System, shipped_titles
from tests.e2e.serving import serving

PLAYERS = 3
HOOKS = "tests.hostile.contract_hooks"
REPLACED = "positive_data_acceptance"
# Phases by their share of the time: on a busy machine the first would leave nothing to those after it.
PHASES = {"coverage": 0.4, "fuzzing": 0.2, "stateful": 0.4}
# What must have gone well at least once for the run to mean anything.
REACHED = ("create_player", "create_table", "take_seat")


def main() -> int:
    asked = _asked()
    with tempfile.TemporaryDirectory(prefix="contract-") as folder:
        counted = Path(folder) / "counted.json"
        workers = dict.fromkeys(shipped_titles(), 1)
        with serving(Path(folder) / "system", workers, OPEN_TABLES_PER_PLAYER="100000") as system:
            print(f"seed {asked.seed}", flush=True)
            given = {**os.environ, **_environment(system, counted)}
            code, answers = 0, Counter[tuple[str, ...]]()
            for phase, share in PHASES.items():
                command = _command(system, asked, phase, share)
                code |= subprocess.run(command, env=given, check=False).returncode
                told = json.loads(counted.read_text())
                answers.update({tuple(key.split(" ", 1)): number for key, number in told.items()})
            system.check()
    return code or _told(answers)


def _command(system: System, asked: argparse.Namespace, phase: str, share: float) -> list[str]:
    return [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"{system.url}/openapi.json",
        f"--seed={asked.seed}",
        f"--max-examples={asked.examples}",
        f"--phases={phase}",
        f"--max-time={round(asked.seconds * share)}",
        "--checks=all",
        f"--exclude-checks={REPLACED}",
        "--continue-on-failure",
        "--request-timeout=60",
        "--generation-database=none",
        "--warnings=off",
        "--no-color",
    ]


def _environment(system: System, counted: Path) -> dict[str, str]:
    tokens = [httpx.post(f"{system.url}/v1/players", timeout=60).json()["token"] for _ in range(PLAYERS)]
    return {"TOKENS": " ".join(tokens), "SCHEMATHESIS_HOOKS": HOOKS, "COUNTED": str(counted)}


def _told(answers: Counter[tuple[str, ...]]) -> int:
    """Prints what was reached; 1 when something was not that must be."""
    operations = sorted({operation for operation, _ in answers})
    for operation in operations:
        by_status = sorted((status, n) for (name, status), n in answers.items() if name == operation)
        print(f"  {operation:20}", ", ".join(f"{status}: {n}" for status, n in by_status))
    missed = [
        operation
        for operation in REACHED
        if not any(name == operation and status.startswith("2") for name, status in answers)
    ]
    if missed:
        print(f"never answered with success: {', '.join(missed)}")
    return int(bool(missed))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.hostile.contract", description=__doc__)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--examples", type=int, default=25, help="of each operation, in each phase")
    parser.add_argument("--seconds", type=int, default=150, help="at most, without start and end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
