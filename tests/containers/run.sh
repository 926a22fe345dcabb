#!/usr/bin/env bash
# The container tests from nothing, as root on Debian without an image registry: an engine if none answers,
# base images from packages, our images, and the tests, none of which may be skipped. What it starts it stops.
# Downloads are tried a few times, and no step may take longer than its limit.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CI=true PIP_RETRIES=4 PIP_DEFAULT_TIMEOUT=30
export DOCKER=/usr/bin/docker BUILD_FLAGS=${BUILD_FLAGS:---network host}

# step NAME SECONDS COMMAND...: prints what it took; a step past its seconds is ended, with all that it began.
step() {
    local name=$1 limit=$2 began=$SECONDS
    shift 2
    timeout --kill-after 30 "$limit" "$@" || { echo "$name: failed after $((SECONDS - began)) s" >&2; exit 1; }
    echo "$name: $((SECONDS - began)) s"
}

step "environment" 600 make --no-print-directory .venv/.dev gen/.stamp

export PATH=/usr/bin:$PATH # Debian's docker and docker-compose, whatever else there is
packages=(docker.io docker-compose mmdebstrap iptables)
apt() {
    local tries=(-o Acquire::Retries=4 -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=120)
    local quick=(-o DPkg::Options::=--force-unsafe-io)
    DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qq "${tries[@]}" "${quick[@]}" "$@" >/dev/null
}
installed() { dpkg-query --show --showformat='${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | grep -cx installed; }
if [ "$(installed)" != ${#packages[@]} ]; then
    began=$SECONDS
    apt update
    apt install -y --no-install-recommends "${packages[@]}"
    echo "packages: $((SECONDS - began)) s"
fi

engine=
log=$(mktemp)
answers() { timeout 10 "$DOCKER" version >/dev/null 2>&1; }
stop() {
    if [ -n "$engine" ]; then
        kill "$engine"
        wait "$engine" || true
    fi
    rm -f "$log"
}
trap stop EXIT
if ! answers; then
    dockerd >"$log" 2>&1 &
    engine=$!
    for _ in $(seq 120); do
        if answers; then break; fi
        kill -0 "$engine" || { tail -5 "$log"; exit 1; }
        sleep 0.5
    done
    answers || { tail -5 "$log"; exit 1; }
fi

step "stand-ins for base images" 600 make --no-print-directory stand-ins
step "images" 600 make --no-print-directory images
step "tests on containers" 1800 make --no-print-directory test-containers ARGS="${ARGS:-}"
