"""The whole system as child processes of this one: embedded servers, one process per service.

`make run`, the end-to-end tests and the benchmarks all start it from here. Nothing outlives the
parent: children get SIGTERM on `stop`, SIGKILL when they do not heed it, and the kernel's
parent-death signal should the parent itself be killed.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from deploy.local.run_file import RunFile
from deploy.local.servers import Nats, Valkey, dying_with_parent

Fsync = Literal["everysec", "always"]

ROOT = Path(__file__).resolve().parents[2]
STOP_S_MAX = 8.0
READY_S_MAX = 60.0


class SystemFailure(Exception):
    """The system could not be started or has died; the message is one line for a person."""


def shipped_titles() -> list[str]:
    """The slugs of all titles in the tree: every folder of services/titles."""
    folders = (ROOT / "services" / "titles").iterdir()
    return sorted(folder.name for folder in folders if (folder / "__init__.py").is_file())


@dataclass
class Service:
    """One child process. `name` is also the name of its log file: "rules-wayfare-1"."""

    name: str
    module: str
    env: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                dying_with_parent([sys.executable, "-m", self.module]),
                env={**os.environ, **self.env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=ROOT,
                # A session of its own: Ctrl-C reaches the parent only, which stops its children in order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        assert self.process is not None, f"{self.name} was never started"
        return self.process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.process.poll() if self.process else None

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        assert self.process is not None, f"{self.name} was never started"
        self.process.kill()
        self.process.wait()

    @property
    def ending(self) -> str:
        """How it ended, in a few words: by which signal, or with its own last line."""
        code = self.exit_code
        assert code is not None, f"{self.name} has not ended"
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with code {code}: {self.last_words()}"

    def last_words(self) -> str:
        """The last line of its log: where a failed start says why."""
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return lines[-1][:300] if lines else "it left no log"


@dataclass
class System:
    """Embedded servers, lobby, projection, rules workers and one or more gateways.

    `workers`: how many rules workers for each title. `ports`: one gateway listens on each.
    `redis_url` and `nats_url`: use these servers instead of embedded ones.
    """

    data: Path
    workers: Mapping[str, int]
    ports: list[int]
    host: str = "127.0.0.1"
    fsync: Fsync = "everysec"
    redis_url: str = ""
    nats_url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    services: dict[str, Service] = field(default_factory=dict)
    valkey: Valkey | None = None
    nats: Nats | None = None

    def __post_init__(self) -> None:
        self.run_file = RunFile(self.data)

    @property
    def url(self) -> str:
        """Of the first gateway."""
        return f"http://{self.host}:{self.ports[0]}"

    def start(self) -> None:
        """Starts everything and waits until every title can be played. Raises SystemFailure."""
        try:
            self._start_servers()
            for service in self._planned():
                self.services[service.name] = service
                service.start()
            self._wait_until_ready()
            self.run_file.write(redis_url=self.redis_url, url=self.url)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops everything: gateways first, so that nobody is promised anything; the servers last."""
        self.run_file.remove()
        for names in (self._named("gateway"), self._named("")):
            self._stop_services(names)
        for server in (self.nats, self.valkey):
            if server is not None:
                server.stop()

    def add_worker(self, title: str) -> Service:
        """Starts one more rules worker of `title`."""
        number = 1 + max((int(name.rsplit("-", 1)[1]) for name in self._named(f"rules-{title}-")), default=0)
        service = self._service(f"rules-{title}-{number}", "services.rules", TITLE=title)
        self.services[service.name] = service
        service.start()
        return service

    def _start_servers(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        logs = self.data / "logs"
        logs.mkdir(exist_ok=True)
        for log in logs.glob("*.log"):
            log.replace(log.with_suffix(".log.before"))  # of the run before, one is kept
        if not self.redis_url:
            self.valkey = Valkey(self.data / "valkey", fsync=self.fsync)
            self.redis_url = self.valkey.start()
        if not self.nats_url:
            self.nats = Nats(self.data / "nats")
            self.nats_url = self.nats.start()

    def _planned(self) -> list[Service]:
        rules = [
            self._service(f"rules-{title}-{number}", "services.rules", TITLE=title)
            for title, count in self.workers.items()
            for number in range(1, count + 1)
        ]
        gateways = [
            self._service(f"gateway-{number}", "gateway", HOST=self.host, PORT=str(port))
            for number, port in enumerate(self.ports, 1)
        ]
        return [
            self._service("lobby-1", "services.lobby"),
            self._service("projection-1", "services.projection"),
            *rules,
            *gateways,
        ]

    def _service(self, name: str, module: str, **env: str) -> Service:
        given = {"REDIS_URL": self.redis_url, "HOST": "127.0.0.1", "PORT": "0"}
        if module != "gateway":
            given["NATS_URL"] = self.nats_url
        return Service(name, module, {**given, **self.env, **env}, self.data / "logs" / f"{name}.log")

    def _named(self, prefix: str) -> list[str]:
        return [name for name in self.services if name.startswith(prefix)]

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S_MAX
        missing = "the gateway"
        while time.monotonic() < deadline:
            self.check()
            missing = self._missing()
            if not missing:
                return
            time.sleep(0.05)
        raise SystemFailure(f"not ready after {READY_S_MAX:.0f} s: still waiting for {missing}")

    def _missing(self) -> str:
        """What the gateways still wait for; empty when every title can be played through all of them."""
        for port in self.ports:
            try:
                urllib.request.urlopen(f"http://{self.host}:{port}/readyz", timeout=2).close()
                titles = _get_json(f"http://{self.host}:{port}/v1/titles")["titles"]
            except (OSError, urllib.error.URLError, ValueError) as error:
                return f"the gateway on port {port} ({error})"
            available = {title["slug"] for title in titles if title["available"]}
            absent = sorted(set(self.workers) - available)
            if absent:
                return ", ".join(absent)
        return ""

    def check(self) -> None:
        """Raises SystemFailure if a child has ended by itself."""
        for service in self.services.values():
            if service.exit_code is not None:
                raise SystemFailure(f"{service.name} {service.ending}")

    def _stop_services(self, names: list[str]) -> None:
        running = [self.services[name] for name in names if self.services[name].exit_code is None]
        running = [service for service in running if service.process is not None]
        for service in running:
            assert service.process is not None
            service.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_S_MAX
        for service in running:
            assert service.process is not None
            try:
                service.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                service.kill()


def _get_json(url: str) -> dict[str, list[dict[str, object]]]:
    with urllib.request.urlopen(url, timeout=2) as response:
        found: dict[str, list[dict[str, object]]] = json.load(response)
        return found
