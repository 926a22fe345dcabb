# shellcheck shell=bash
# Names of images, for the scripts beside this file: sourced, not run.
# shellcheck disable=SC2034
DOCKER=${DOCKER:-docker}
IMAGE_PREFIX=${IMAGE_PREFIX:-waystation}   # a registry and a folder, where there is one
IMAGE_TAG=${IMAGE_TAG:-$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)}

DEBIAN_IMAGE=debian:bookworm-slim
PYTHON_IMAGE=python:3.11-slim-bookworm
REDIS_IMAGE=redis:7.2-bookworm
NATS_IMAGE=nats:2.15.1
STAND_IN=waystation.stand-in # a label: this image only stands in for the official one of that name
