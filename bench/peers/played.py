"""One run of one server: pinned, warm, under a closed loop, with its cost as the kernel counts it."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

import msgspec

from bench import measure, whole
from bench.load import Played
from bench.peers.installed import FOLDER
from bench.peers.servers import WAYSTATION, Peer
from bench.peers.table import Row
from bench.plans import Plan
from deploy.local.servers import HOST, dying_with_parent, free_port

WARM_LIVES = 2  # matches that each slot plays untimed; a compiler that learns as it runs needs them
READY_S_MAX = 20.0


class Failed(Exception):
    """A run that gave no figures; the message is one line for a person."""


def waystation(plan: Plan) -> Row:
    """Its own plan, as `make bench` plays it."""
    result = whole.run([plan], is_pinned=True, with_history=False).results[0]
    return Row(
        server=WAYSTATION,
        moves=result.moves,
        seconds=result.seconds,
        p50_ms=result.p50_ms,
        p99_ms=result.p99_ms,
        cpu_s=sum(result.cpu_s.values()),
        rss_mb=sum(result.rss_mb.values()),
        generator_cpu_s=result.generator_cpu_s,
    )


def other(peer: Peer, plan: Plan) -> Row:
    """The same shape of load on a server of others."""
    with (
        tempfile.TemporaryDirectory(prefix="waystation-peer-") as folder,
        _serving(peer, Path(folder)) as (server, port),
        _generating(peer, plan, port) as generator,
    ):
        before, found, after = _timed(server, generator)
    percentiles = quantiles(found.latencies_ms, n=100)
    return Row(
        server=peer.name,
        moves=len(found.latencies_ms),
        seconds=found.seconds,
        p50_ms=percentiles[49],
        p99_ms=percentiles[98],
        cpu_s=after.cpu_s - before.cpu_s,
        rss_mb=after.rss_mb,
        generator_cpu_s=found.cpu_s,
    )


def _timed(
    server: subprocess.Popen[bytes], generator: subprocess.Popen[bytes]
) -> tuple[measure.Cost, Played, measure.Cost]:
    """What the server had cost before the first move and after the last, and how it was played."""
    assert generator.stdin is not None
    assert generator.stdout is not None
    if generator.stdout.readline() != b"ready\n":
        raise Failed("the generator could not open its matches; see above")
    time.sleep(whole.SETTLE_S)
    before = measure.cost(server.pid)
    generator.stdin.write(b"go\n")
    generator.stdin.flush()
    line = generator.stdout.readline()
    if not line:
        raise Failed("the generator gave up; see above")
    time.sleep(whole.SETTLE_S)
    return before, msgspec.json.decode(line, type=Played), measure.cost(server.pid)


@contextmanager
def _serving(peer: Peer, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The peer's server process and its port, from when it accepts connections."""
    port = free_port()
    store = [str(folder / "store")] if peer.has_files else []
    log = folder / "log"
    with log.open("wb") as output:
        command = [*_node(peer.server), str(port), *store]
        server = subprocess.Popen(command, env=_env(), stdout=output, stderr=output, preexec_fn=_on_core(0))
    with _ended(server):
        began = time.monotonic()
        while not _accepts(port):
            if server.poll() is not None or time.monotonic() > began + READY_S_MAX:
                raise Failed(f"{peer.name} did not start: {log.read_text()[-300:]}")
            time.sleep(0.05)
        yield server, port


@contextmanager
def _generating(peer: Peer, plan: Plan, port: int) -> Iterator[subprocess.Popen[bytes]]:
    job = {
        "client": peer.client,
        "port": port,
        "matches": plan.matches,
        "warm": min(WARM_LIVES, peer.lives),
        "lives": peer.lives,
        "seconds": plan.seconds,
    }
    command = [*_node("generator.js"), msgspec.json.encode(job).decode()]
    pipe = subprocess.PIPE
    generator = subprocess.Popen(command, env=_env(), stdin=pipe, stdout=pipe, preexec_fn=_on_core(1))
    with generator, _ended(generator):
        yield generator


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _node(script: str) -> list[str]:
    node = shutil.which("node")
    assert node is not None, "check_node comes first"
    return dying_with_parent([node, str(FOLDER / script)])


def _env() -> dict[str, str]:
    return os.environ | {"NODE_ENV": "production"}


def _on_core(core: int) -> Callable[[], None]:
    return lambda: os.sched_setaffinity(0, {core})


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
