#!/usr/bin/env bash
# Generates gen/ from protos/; type stubs too where mypy-protobuf is installed.
set -euo pipefail
venv=$1
rm -rf gen && mkdir -p gen
outputs=(--python_out=gen --grpc_python_out=gen)
if [ -x "$venv/bin/protoc-gen-mypy" ]; then
    PATH="$PWD/$venv/bin:$PATH"
    outputs+=(--mypy_out=quiet:gen --mypy_grpc_out=quiet:gen)
fi
find protos -name '*.proto' -print0 | xargs -0 "$venv/bin/python" -m grpc_tools.protoc -Iprotos "${outputs[@]}"
