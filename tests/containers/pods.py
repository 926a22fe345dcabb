"""The Pods of a rendered manifest, run as containers: image, arguments, settings, user, limits, probes.

What a kubelet does with a Deployment, as far as one machine can: a Pod is ready when its readiness probe
says so, and leaves by its preStop and SIGTERM within its grace.
"""

import itertools
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import docker
import grpc
from docker.models.containers import Container
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.containers.engine import OPEN, port_of, wait_until, words_of
from tests.k8s.rendering import Manifest, pod

PROBE_S_MAX = 2.0
_numbers = itertools.count(1)


class Pod:
    """One container of a workload, on a network where its name and the workload's are known."""

    def __init__(
        self, client: docker.DockerClient, network: str, workload: Manifest, settings: Mapping[str, str]
    ) -> None:
        """`settings`: what the ConfigMap and the Secret of the workload hold."""
        self.workload = workload["metadata"]["name"]
        self.spec = pod(workload)
        (self.manifest,) = self.spec["containers"]
        self.name = f"{network}-{self.workload}-{next(_numbers)}"
        self._client = client
        self._network = network
        self._settings = settings
        self.container = self._created(workload)

    def start(self) -> float:
        """Starts it and waits for its readiness; the seconds that took."""
        began = time.monotonic()
        self.container.start()
        wait_until(self.is_ready, f"{self.name} is ready")
        return time.monotonic() - began

    def stop(self) -> tuple[float, int]:
        """Lets it leave as Kubernetes does; the seconds from SIGTERM to its end, and its exit code."""
        waits = self.manifest.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        grace = self.spec.get("terminationGracePeriodSeconds", 30)
        time.sleep(waits)
        began = time.monotonic()
        self.container.stop(timeout=grace - waits)
        took = time.monotonic() - began
        return took, int(self.container.wait()["StatusCode"])

    def remove(self) -> None:
        self.container.remove(force=True, v=True)

    def is_ready(self) -> bool:
        """What the readiness probe of the manifest says. Raises AssertionError if the container has ended."""
        self.container.reload()
        assert self.container.status == "running", f"{self.name} ended: {words_of(self.container)}"
        return self._passes(self.manifest["readinessProbe"])

    def address(self, port: int) -> int:
        return port_of(self.container, port)

    def _passes(self, probe: Mapping[str, Any]) -> bool:
        if "grpc" in probe:
            return _serves(self.address(probe["grpc"]["port"]))
        if "httpGet" in probe:
            port = self._port(probe["httpGet"]["port"])
            return _answers(f"http://127.0.0.1:{self.address(port)}{probe['httpGet']['path']}")
        return self.container.exec_run(probe["exec"]["command"]).exit_code == 0

    def _port(self, name: str) -> int:
        (number,) = (port["containerPort"] for port in self.manifest["ports"] if port["name"] == name)
        return int(number)

    def _created(self, workload: Manifest) -> Container:
        context, rights = self.spec["securityContext"], self.manifest["securityContext"]
        limits = self.manifest["resources"]["limits"]
        assert rights["allowPrivilegeEscalation"] is False
        container = self._client.containers.create(
            self.manifest["image"],
            command=self.manifest.get("args"),
            name=self.name,
            hostname=self.name,
            environment=self._environment(),
            user=f"{context['runAsUser']}:{context['runAsGroup']}",
            read_only=rights["readOnlyRootFilesystem"],
            cap_drop=rights["capabilities"]["drop"],
            security_opt=["no-new-privileges:true"],
            tmpfs=self._folders(workload),
            mem_limit=limits["memory"].removesuffix("i").lower(),
            nano_cpus=int(float(limits["cpu"]) * 1e9),
            ports={f"{port['containerPort']}/tcp": OPEN for port in self.manifest["ports"]},
            network=self._network,
            healthcheck={"test": ["NONE"]},  # a kubelet has its own probes
        )
        network = self._client.networks.get(self._network)
        network.disconnect(container)
        network.connect(container, aliases=[self.name, self.workload])
        return container

    def _environment(self) -> dict[str, str]:
        """The settings, and what the manifest sets; the Pod's address is a name here."""
        given = dict(self._settings)
        for variable in self.manifest.get("env", []):
            assert variable["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
            given[variable["name"]] = self.name
        return given

    def _folders(self, workload: Manifest) -> dict[str, str]:
        """Where the manifest mounts volumes, memory is mounted; they are empty when a Pod starts."""
        claims = workload["spec"].get("volumeClaimTemplates", [])
        known = {claim["metadata"]["name"] for claim in claims}
        known |= {volume["name"] for volume in self.spec.get("volumes", []) if "emptyDir" in volume}
        mounts = self.manifest.get("volumeMounts", [])
        assert {mount["name"] for mount in mounts} <= known
        owner = self.spec["securityContext"]["runAsUser"]
        return {mount["mountPath"]: f"rw,uid={owner},gid={owner}" for mount in mounts}


def _serves(port: int) -> bool:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            asked = health_pb2.HealthCheckRequest()
            answer = health_pb2_grpc.HealthStub(channel).Check(asked, timeout=PROBE_S_MAX)
        except grpc.RpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PROBE_S_MAX) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False
