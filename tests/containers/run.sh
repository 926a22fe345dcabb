#!/usr/bin/env bash
# The container tests from nothing, as root on Debian without an image registry: an engine if none answers,
# base images from packages, our images, and the tests. What it starts it stops.
set -euo pipefail
cd "$(dirname "$0")/../.."
export DOCKER=/usr/bin/docker PATH=/usr/bin:$PATH BUILD_FLAGS=${BUILD_FLAGS:---network host}

packages=(docker.io docker-compose mmdebstrap iptables)
dpkg --status "${packages[@]}" >/dev/null 2>&1 || {
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
}

engine=
log=$(mktemp)
stop() {
    if [ -n "$engine" ]; then
        kill "$engine"
        wait "$engine" || true
    fi
    rm -f "$log"
}
trap stop EXIT
if ! "$DOCKER" version >/dev/null 2>&1; then
    dockerd >"$log" 2>&1 &
    engine=$!
    for _ in $(seq 120); do
        if "$DOCKER" version >/dev/null 2>&1; then break; fi
        kill -0 "$engine" || { tail -5 "$log"; exit 1; }
        sleep 0.5
    done
fi

began=$SECONDS
make --no-print-directory stand-ins
echo "stand-ins for base images: $((SECONDS - began)) s"
began=$SECONDS
make --no-print-directory images
echo "images: $((SECONDS - began)) s"
make --no-print-directory test-containers ARGS="-s ${ARGS:-}"
