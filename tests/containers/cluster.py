"""A rendered overlay as containers on one network: Deployments that scale and roll, and a way in."""

import asyncio
import contextlib
import itertools
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple, Self

import docker

from tests.containers.pods import Pod
from tests.k8s.rendering import Manifest, of_kind, pod


class Left(NamedTuple):
    """How a Pod ended: seconds from SIGTERM, and the exit code."""

    workload: str
    seconds: float
    code: int


class Cluster:
    """`secrets`: what the Secret of each service would hold, by the Secret's name."""

    def __init__(
        self,
        client: docker.DockerClient,
        manifests: list[Manifest],
        secrets: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._client = client
        self._secrets = secrets
        self._configs = {
            manifest["metadata"]["name"]: manifest["data"] for manifest in of_kind(manifests, "ConfigMap")
        }
        self.workloads = {
            manifest["metadata"]["name"]: manifest
            for manifest in of_kind(manifests, "StatefulSet", "Deployment")
        }
        self.pods: dict[str, list[Pod]] = defaultdict(list)
        self.started_s: dict[str, float] = {}
        self.left: list[Left] = []
        self._network = f"waystation-{uuid.uuid4().hex[:8]}"

    def __enter__(self) -> Self:
        """Starts one Pod of every workload: servers first, services all at once."""
        self._client.networks.create(self._network)
        try:
            kinds = {name: manifest["kind"] for name, manifest in self.workloads.items()}
            for name in (name for name, kind in kinds.items() if kind == "StatefulSet"):
                self.add(name)
            services = [name for name, kind in kinds.items() if kind == "Deployment"]
            with ThreadPoolExecutor(len(services)) as threads:
                list(threads.map(self.add, services))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for running in self._all():
            running.remove()
        self._client.networks.get(self._network).remove()

    @property
    def deployments(self) -> list[str]:
        return [name for name, manifest in self.workloads.items() if manifest["kind"] == "Deployment"]

    def add(self, workload: str) -> Pod:
        """One more Pod of `workload`, ready."""
        manifest = self.workloads[workload]
        added = Pod(self._client, self._network, manifest, self._settings(manifest))
        try:
            self.started_s[added.name] = added.start()
        except BaseException:
            added.remove()
            raise
        self.pods[workload].append(added)
        return added

    def take(self, workload: str) -> Left:
        """Takes the oldest Pod of `workload` away, gently; it gets no new callers from now on."""
        leaving = self.pods[workload].pop(0)
        left = Left(workload, *leaving.stop())
        self.left.append(left)
        leaving.remove()
        return left

    def scale(self, workload: str, pods: int) -> None:
        """All that come do so at once, and all that go."""
        change = pods - len(self.pods[workload])
        with ThreadPoolExecutor(abs(change)) as threads:
            list(threads.map(self.add if change > 0 else self.take, [workload] * abs(change)))

    def roll(self, workload: str) -> Left:
        """Replaces its Pods: a new one first, then the old one leaves (maxSurge 1, maxUnavailable 0)."""
        for _ in list(self.pods[workload]):
            self.add(workload)
            left = self.take(workload)
        return left

    def port(self, workload: str, port: int) -> int:
        return self.pods[workload][0].address(port)

    def _all(self) -> Iterable[Pod]:
        return list(itertools.chain.from_iterable(self.pods.values()))

    def _settings(self, workload: Manifest) -> dict[str, str]:
        """What `envFrom` brings. Raises KeyError for a ConfigMap that was not rendered."""
        given: dict[str, str] = {}
        for source in pod(workload)["containers"][0].get("envFrom", []):
            if "configMapRef" in source:
                given |= self._configs[source["configMapRef"]["name"]]
            else:
                given |= self._secrets.get(source["secretRef"]["name"], {})
        return given


class Way:
    """The way into a cluster, as a Service: a port of 127.0.0.1 whose connections go to ready gateways."""

    def __init__(self, cluster: Cluster, workload: str, port: int) -> None:
        self._cluster = cluster
        self._workload = workload
        self._port = port
        self._turns = itertools.count()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind = self._cluster.pods[self._workload]
        chosen = behind[next(self._turns) % len(behind)]
        with contextlib.suppress(OSError):
            port = await asyncio.to_thread(chosen.address, self._port)
            there, back = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(_pipe(reader, back), _pipe(there, writer))
        writer.close()


async def _pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while read := await source.read(1 << 16):
            sink.write(read)
            await sink.drain()
    sink.close()
