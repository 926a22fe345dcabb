"""The store's and the bus's own suites, on the images of Redis and NATS that we deploy."""

import os
import subprocess
import sys

from testcontainers.core.container import DockerContainer

from deploy.local.system import ROOT
from tests.containers.engine import OPEN, port_of, wait_until, words_of
from tests.k8s.rendering import of_kind, overlay, pod

SUITES = ("test_store.py", "test_redis_store.py", "test_relay.py", "test_bus.py", "test_consume.py")


def started(name, port):
    """The server of the dev overlay, with the manifest's image and arguments."""
    (manifest,) = (
        found for found in of_kind(overlay("dev"), "StatefulSet") if found["metadata"]["name"] == name
    )
    (container,) = pod(manifest)["containers"]
    server = DockerContainer(container["image"]).with_command(container["args"])
    server.ports = {port: OPEN}  # `with_bind_ports` takes no address
    return server


def test_store_and_bus_keep_their_promises_on_the_servers_that_we_deploy(docker_engine):
    with started("redis", 6379) as redis, started("nats", 4222) as nats:
        inside = redis.get_wrapped_container()
        wait_until(lambda: inside.exec_run(["redis-cli", "ping"]).output == b"PONG\n", "redis answers")
        said = nats.get_wrapped_container()
        wait_until(lambda: "Server is ready" in words_of(said), "nats is ready")
        env = {
            **os.environ,
            "TEST_REDIS_URL": f"redis://127.0.0.1:{port_of(inside, 6379)}",
            "TEST_NATS_URL": f"nats://127.0.0.1:{port_of(said, 4222)}",
        }
        suites = [str(ROOT / "tests" / "kit" / suite) for suite in SUITES]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *suites], cwd=ROOT, env=env, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
    print(done.stdout.strip().splitlines()[-1])
