"""The peers as npm gives them: exact versions in a folder of their own that git does not know."""

import shutil
import subprocess
from pathlib import Path

import msgspec

from deploy.local.system import ROOT

SCRIPTS = ROOT / "bench" / "peers"
FOLDER = ROOT / "data" / "bench" / "peers"
NODE_MAJOR_MIN = 20
# No lock file: it would name the registry of whoever wrote it. No scripts: no package here needs its own.
_NPM_INSTALL = ("npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")


class Missing(Exception):
    """What the peers need is not there; the message is one line for a person."""


class _Package(msgspec.Struct, frozen=True):
    version: str = ""
    dependencies: dict[str, str] = {}
    overrides: dict[str, str] = {}


def check_node() -> None:
    """Raises Missing unless there are npm and a Node that the peers run on."""
    absent = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    if absent:
        tools = " and no ".join(absent)
        raise Missing(f"no {tools} here; peers need Node {NODE_MAJOR_MIN} or later with npm")
    if int(node_version().lstrip("v").partition(".")[0]) < NODE_MAJOR_MIN:
        raise Missing(f"Node {node_version()} is too old; peers need {NODE_MAJOR_MIN} or later")


def node_version() -> str:
    """As Node says it: v20.20.2."""
    return subprocess.run(("node", "--version"), capture_output=True, text=True, check=True).stdout.strip()


def install(folder: Path = FOLDER) -> None:
    """Installs what package.json names, unless it is there already, with our files beside. Raises Missing."""
    wanted = (SCRIPTS / "package.json").read_bytes()
    stamp = folder / "installed.json"
    if not stamp.exists() or stamp.read_bytes() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_bytes(wanted)
        # Colyseus asks for Node 22 and runs on 20: npm's warning of that says nothing of use.
        if subprocess.run((*_NPM_INSTALL, "--loglevel=error"), cwd=folder, check=False).returncode:
            raise Missing("npm could not install the peers; see above")
        stamp.write_bytes(wanted)
    # Node looks for packages beside the file that asks for them.
    for script in SCRIPTS.glob("*.*js"):
        shutil.copy(script, folder)


def versions(folder: Path = FOLDER) -> dict[str, str]:
    """Of Node, and of every package that package.json names."""
    asked = _read(SCRIPTS / "package.json")
    packages = sorted({*asked.dependencies, *asked.overrides})
    found = {name: _read(folder / "node_modules" / name / "package.json").version for name in packages}
    return {"node": node_version().lstrip("v")} | found


def _read(path: Path) -> _Package:
    return msgspec.json.decode(path.read_bytes(), type=_Package)
