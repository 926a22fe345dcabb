#!/usr/bin/env bash
# Makes the virtual environment and installs one lock file into it: with uv where it is, else with venv and pip.
set -euo pipefail
python=$1 venv=$2 lock=$3

command -v "$python" >/dev/null || { echo "waystation: there is no '$python'; install Python 3.11 or later, or say PYTHON=..." >&2; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "waystation: $("$python" --version) is too old; 3.11 or later is needed (make PYTHON=python3.12 ...)" >&2
    exit 1
}

echo "waystation: installing $(basename "$lock" .txt) requirements into $venv; the first time this takes a minute or two ..." >&2
if command -v uv >/dev/null; then
    [ -x "$venv/bin/python" ] || uv venv --quiet --python "$python" "$venv"
    uv pip install --quiet --python "$venv/bin/python" --require-hashes -r "$lock"
    uv pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
    exit
fi
# An environment that uv made has no pip; venv adds it.
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv "$venv" || {
    echo "waystation: '$python -m venv' failed; Debian keeps it in the package python3-venv" >&2
    exit 1
}
pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet install)
"${pip[@]}" --require-hashes -r "$lock"
"${pip[@]}" --no-deps --no-build-isolation --editable .
