"""The Docker engine and the images that the tests of this folder need; ports open on 127.0.0.1 only."""

import os
import time
import urllib.request
from collections.abc import Callable
from typing import NoReturn

import docker
import pytest
from docker.errors import DockerException, ImageNotFound
from docker.models.containers import Container

from deploy.local.system import shipped_titles
from deploy.manifests import dns_name, version

HOST = "127.0.0.1"
OPEN = (HOST,)  # a published port: a free one of HOST
SERVICES = ["gateway", "lobby", "projection", *(f"rules-{dns_name(slug)}" for slug in shipped_titles())]
IMAGES = [f"waystation/{name}:{version()}" for name in SERVICES]
PYTHON_IMAGE = "python:3.11-slim-bookworm"  # what ours stand on
READY_S_MAX = 180.0


def engine() -> docker.DockerClient:
    """A client of a running engine that has our images. Without one the test is skipped; in CI it fails."""
    try:
        client = docker.from_env(timeout=120)
        client.ping()
    except DockerException as error:
        give_up(f"no Docker engine answers: {error}")
    for image in IMAGES:
        try:
            client.images.get(image)
        except ImageNotFound:
            give_up(f"no image {image}: run `make images`")
    return client


def give_up(why: str) -> NoReturn:
    (pytest.fail if os.environ.get("CI") else pytest.skip)(why)


def port_of(container: Container, port: int) -> int:
    """The port of HOST behind which the container's `port` is."""
    container.reload()
    return int(container.ports[f"{port}/tcp"][0]["HostPort"])


def words_of(container: Container, lines: int = 20) -> str:
    """The end of its log."""
    return str(container.logs(tail=lines).decode(errors="replace"))


def titles_available(url: str) -> int:
    """How many titles the gateway at `url` says can be played."""
    try:
        with urllib.request.urlopen(f"{url}/v1/titles", timeout=2) as answer:
            return int(answer.read().count(b'"available":true'))
    except OSError:
        return 0


def wait_until(holds: Callable[[], bool], what: str, seconds_max: float = READY_S_MAX) -> float:
    """The seconds it took until `holds()`. Raises AssertionError."""
    began = time.monotonic()
    while time.monotonic() < began + seconds_max:
        if holds():
            return time.monotonic() - began
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds_max:.0f} s: {what}")
