"""The compose file brings up a system that can be played, with more than one worker of a title."""

import os
import random
import shutil
import subprocess
import uuid

import pytest
import yaml

from deploy.local.servers import free_port
from deploy.local.system import ROOT, shipped_titles
from deploy.manifests import COMPOSE
from tests.containers.engine import give_up, titles_available, wait_until
from tests.e2e.conftest import UNLIMITED
from tests.e2e.playing import History, play_http
from tests.e2e.site import Site, gathered

pytestmark = pytest.mark.anyio


def composer():
    """The command of Compose v2, or of docker-compose 1.29."""
    plugin = ["docker", "compose"]
    if subprocess.run([*plugin, "version"], capture_output=True, check=False).returncode == 0:
        return plugin
    if not shutil.which("docker-compose"):
        give_up("neither `docker compose` nor `docker-compose` is there")
    return ["docker-compose"]


@pytest.fixture(scope="module")
def url(docker_engine):
    """A gateway of a system that `make up` starts, with two workers of one title; `make down` ends it."""
    port = free_port()
    project = f"waystation{uuid.uuid4().hex[:8]}"  # beside one that may be in use
    composed = f"COMPOSED={' '.join(composer())} -p {project} -f {COMPOSE}"
    env = {**os.environ, **UNLIMITED, "PORT": str(port)}

    def make(target, arguments):
        command = ["make", "--no-print-directory", target, composed, f"ARGS={arguments}"]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]

    try:
        make("up", "--scale rules-wayfare=2")
        yield f"http://127.0.0.1:{port}"
    finally:
        make("down", "--volumes --timeout 5")


def test_monitoring_is_a_profile_and_mounts_what_is_there(docker_engine):
    done = subprocess.run(
        [*composer(), "-f", str(ROOT / COMPOSE), "--profile", "monitoring", "config"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    assert {"prometheus", "grafana", "gateway"} <= set(services)
    written = yaml.safe_load((ROOT / COMPOSE).read_text())["services"]
    for name in ("prometheus", "grafana"):
        assert written[name]["profiles"] == ["monitoring"]
        mounted = [volume.split(":")[0] for volume in written[name]["volumes"]]
        missing = [path for path in mounted if path[0] == "." and not (ROOT / COMPOSE.parent / path).exists()]
        assert len(mounted) > 1
        assert not missing


async def test_every_title_can_be_played_on_what_compose_starts(url):
    wait_until(lambda: titles_available(url) == len(shipped_titles()), "every title can be played")
    history = History()
    async with Site([url]) as site:
        titles = (await site.ask("GET", "/v1/titles"))["titles"]
        assert {title["slug"] for title in titles} == set(shipped_titles())
        for title in titles:
            players = await site.players(title["seats"]["min"])
            match = await gathered(players, title["slug"])
            await play_http(players, match, history, random.Random(match))
            assert (await players[0].view(match))["status"] == "over"
