#!/usr/bin/env bash
# Builds every image: gateway, lobby, projection, and rules-<title> for each folder of services/titles.
# BUILD_FLAGS is handed to `docker build`; "--network host" suits machines whose bridge reaches no index.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/images/names.sh
export DOCKER_BUILDKIT=1
revision=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

build() {
    local image=$IMAGE_PREFIX/$1:$IMAGE_TAG began=$SECONDS
    shift
    # shellcheck disable=SC2086
    "$DOCKER" build ${BUILD_FLAGS:-} --quiet --file deploy/Dockerfile --tag "$image" \
        --build-arg VERSION="$IMAGE_TAG" --build-arg REVISION="$revision" "$@" . >/dev/null
    printf '%-42s %4d MB %4d s\n' "$image" \
        "$(($("$DOCKER" image inspect --format '{{.Size}}' "$image") / 1000000))" "$((SECONDS - began))"
}

for service in gateway lobby projection; do
    build "$service" --build-arg SERVICE="$service"
done
for folder in services/titles/*/__init__.py; do
    title=$(basename "$(dirname "$folder")")
    build "rules-${title//_/-}" --build-arg SERVICE=rules --build-arg TITLE="$title" # no _ in DNS names
done
