"""`waystation run`: the whole system on this machine, until Ctrl-C."""

import fcntl
import os
import re
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from deploy.local.run_file import run_in
from deploy.local.servers import ServerFailed, free_port
from deploy.local.system import ROOT, Fsync, System, SystemFailure, shipped_titles

RESTARTS_MAX = 5
LEFT_S_MAX = 10.0  # what services of a run that was killed may take to end


class Stopped(Exception):
    """SIGTERM or Ctrl-C arrived."""


def run(*, host: str, port: int, data: Path | None, ephemeral: bool, workers: int, fsync: Fsync) -> int:
    """Serves until a signal arrives; the exit code. Every failure is one line. `port` 0 takes a free one."""
    port = port or free_port()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stopped)
    try:
        with _data_folder(data, ephemeral) as folder:
            # The gateway of a run that was killed may still be saying goodbye.
            _refuse_taken(host, port, wait_s=LEFT_S_MAX if run_in(folder) else 0)
            system = System(
                data=folder,
                workers=dict.fromkeys(shipped_titles(), workers),
                ports=[port],
                host=host,
                fsync=fsync,
                redis_url=os.environ.get("REDIS_URL", ""),
                nats_url=os.environ.get("NATS_URL", ""),
            )
            _serve(system)
    except Stopped:
        print("waystation: stopped", flush=True)
    except (SystemFailure, ServerFailed, OSError) as failure:
        print(f"waystation: {failure}", flush=True)
        return 1
    return 0


def _serve(system: System) -> None:
    print("waystation: starting ...", flush=True)
    try:
        system.start()
        print(_welcome(system), flush=True)
        _watch(system)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        system.stop()


def _watch(system: System) -> None:
    """Starts services again that die; gives up on one that keeps dying, and when a server dies."""
    restarts = dict.fromkeys(system.services, 0)
    while True:
        time.sleep(0.5)
        for server in (system.valkey, system.nats):
            if server is not None and server.pid is None:
                raise SystemFailure(f"{server.name} died; see {server.log}")
        for name, service in system.services.items():
            if service.exit_code is None:
                continue
            restarts[name] += 1
            if restarts[name] > RESTARTS_MAX:
                raise SystemFailure(f"{name} {service.ending}, {restarts[name]} times now; see {service.log}")
            print(f"waystation: {name} {service.ending}; started again", flush=True)
            service.start()


def _welcome(system: System) -> str:
    titles = ", ".join(system.workers)
    return "\n".join(
        (
            f"waystation: serving {titles} on {system.url}",
            f"  docs      {system.url}/docs",
            f"  logs      {system.data / 'logs'}",
            f"  redis     {re.sub('//[^/]*@', '//', system.redis_url)}",  # no password
            "  Ctrl-C stops everything",
        )
    )


def _refuse_taken(host: str, port: int, wait_s: float = 0) -> None:
    """Raises SystemFailure for a port that cannot be had within so many seconds."""
    give_up = time.monotonic() + wait_s
    while (hindrance := _hindrance(host, port)) is not None:
        if time.monotonic() >= give_up:
            hint = f"port {port} of {host} is taken or not ours ({hindrance.strerror})"
            raise SystemFailure(f"{hint}; choose another one with --port") from hindrance
        time.sleep(0.1)


def _hindrance(host: str, port: int) -> OSError | None:
    """Why nobody could listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


@contextmanager
def _data_folder(data: Path | None, ephemeral: bool) -> Iterator[Path]:
    """The folder for matches, locked against a second run; a temporary one for an ephemeral run."""
    if ephemeral:
        folder = Path(tempfile.mkdtemp(prefix="waystation-"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    folder = (data or ROOT / "data").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"another run uses {folder}; choose another one with --data, or --ephemeral"
            raise SystemFailure(message) from error
        yield folder


def _stopped(number: int, frame: FrameType | None) -> None:
    raise Stopped
