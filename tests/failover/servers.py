"""Groups of real servers on 127.0.0.1: a Redis primary with a replica and three Sentinels, a NATS cluster."""

import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Self
from urllib.parse import quote

from deploy.local.servers import HOST, Nats, Valkey, free_port
from tests.waiting import wait_until

PRIMARY_NAME = "waystation"
PASSWORD, SENTINEL_PASSWORD = "p@ss/word", "another"
# Read from a file, as Sentinel wants it; it writes there what it learns.
_SENTINEL = """\
sentinel monitor {name} {host} {port} 2
sentinel down-after-milliseconds {name} 1000
sentinel failover-timeout {name} 10000
sentinel auth-pass {name} {password}
requirepass {own_password}
sentinel sentinel-pass {own_password}
"""


class Asked(Valkey):
    """A server that tests put questions to, past everything of ours."""

    password = PASSWORD

    def asked(self, *words: str) -> bytes:
        """The reply to one command, as it came."""
        with socket.create_connection((HOST, self.port), 5) as peer:
            self._log_in(peer)
            parts = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
            peer.sendall(f"*{len(words)}\r\n{parts}".encode())
            return peer.recv(1 << 16)

    def _greets(self, peer: socket.socket) -> bool:
        self._log_in(peer)
        return super()._greets(peer)

    def _log_in(self, peer: socket.socket) -> None:
        peer.sendall(f"AUTH {self.password}\r\n".encode())
        peer.recv(64)


class Member(Asked):
    """A primary, or a replica of `follows`."""

    def __init__(self, data_dir: Path, follows: Valkey | None = None) -> None:
        super().__init__(data_dir)
        self.follows = follows

    @property
    def is_primary(self) -> bool:
        return b"role:master" in self.asked("INFO", "replication")

    def _command(self) -> list[str]:
        passwords = ["--requirepass", PASSWORD, "--masterauth", PASSWORD]
        command = [*super()._command(), "--repl-diskless-sync-delay", "0", *passwords]
        return [*command, "--replicaof", f"{HOST} {self.follows.port}"] if self.follows else command


class Sentinel(Asked):
    """One of those who watch a primary and agree on its successor."""

    name = "sentinel"
    password = SENTINEL_PASSWORD

    def __init__(self, data_dir: Path, watched: Valkey) -> None:
        super().__init__(data_dir)
        self._watched = watched

    def _command(self) -> list[str]:
        config = self.data_dir / "sentinel.conf"
        if not config.exists():
            config.write_text(
                _SENTINEL.format(
                    name=PRIMARY_NAME,
                    host=HOST,
                    port=self._watched.port,
                    password=PASSWORD,
                    own_password=SENTINEL_PASSWORD,
                )
            )
        program = super()._command()[0]
        return [program, str(config), "--port", str(self.port), "--bind", HOST, "--sentinel"]


class RedisGroup:
    """One primary, its replicas and three Sentinels, who know each other when `with` begins."""

    def __init__(self, folder: Path, *, replicas: int = 1) -> None:
        self.primary = Member(folder / "primary")
        self.replicas = [Member(folder / f"replica-{number}", self.primary) for number in range(replicas)]
        self.sentinels = [Sentinel(folder / f"sentinel-{number}", self.primary) for number in range(3)]
        self._running = ExitStack()

    @property
    def url(self) -> str:
        hosts = ",".join(f"{HOST}:{sentinel.port}" for sentinel in self.sentinels)
        asked = f"sentinel_password={SENTINEL_PASSWORD}"
        return f"redis+sentinel://:{quote(PASSWORD, safe='')}@{hosts}/{PRIMARY_NAME}?{asked}"

    def __enter__(self) -> Self:
        with ExitStack() as starting:
            starting.enter_context(self.primary)
            for member in self.replicas:
                starting.enter_context(member)
                wait_until(lambda: b"master_link_status:up" in member.asked("INFO", "replication"))  # noqa: B023
            for sentinel in self.sentinels:
                starting.enter_context(sentinel)
            for sentinel in self.sentinels:
                wait_until(lambda: self._is_known_to(sentinel))  # noqa: B023
            self._running = starting.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        for member in (self.primary, *self.replicas):
            member.resume()
        self._running.close()

    def promoted(self) -> Member:
        """The replica that has become the primary, as soon as one has."""
        wait_until(lambda: any(member.is_primary for member in self.replicas))
        return next(member for member in self.replicas if member.is_primary)

    def _is_known_to(self, sentinel: "Sentinel") -> bool:
        """Whether it has found the replicas and the other Sentinels: only then may it take part."""
        told = sentinel.asked("SENTINEL", "MASTER", PRIMARY_NAME)
        replicas, others = b"num-slaves\r\n$1\r\n%d" % len(self.replicas), b"num-other-sentinels\r\n$1\r\n2"
        return replicas in told and others in told


class ClusterNats(Nats):
    """One NATS server of several that keep each other's streams."""

    def __init__(self, data_dir: Path, number: int, routes: list[int]) -> None:
        """`routes`: the ports on which the servers meet; `number` says which is this one's."""
        super().__init__(data_dir)
        self._number = number
        self._routes = routes

    def _command(self) -> list[str]:
        own = f"nats://{HOST}:{self._routes[self._number]}"
        others = ",".join(f"nats://{HOST}:{port}" for port in self._routes)
        cluster = ["--cluster_name", "waystation", "--cluster", own, "--routes", others]
        return [*super()._command(), "--server_name", f"nats-{self._number}", *cluster]


class NatsCluster:
    """Three servers that share JetStream."""

    def __init__(self, folder: Path) -> None:
        routes = [free_port() for _ in range(3)]
        self.servers = [ClusterNats(folder / f"nats-{number}", number, routes) for number in range(3)]
        self._running = ExitStack()

    @property
    def url(self) -> str:
        return ",".join(server.url for server in self.servers)

    def __enter__(self) -> Self:
        with ExitStack() as starting:
            for server in self.servers:
                starting.enter_context(server)
            self._running = starting.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()
