"""The embedded servers: ready when they say so, back with their data, gone with their parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deploy.local.servers import EmbeddedServer, Nats, ServerFailed, Valkey
from services.kit.redis_link import RedisLink

BOTH = pytest.mark.parametrize("kind", [Valkey, Nats])


@BOTH
def test_a_restart_keeps_the_port(kind: type[EmbeddedServer], tmp_path: Path) -> None:
    with kind(tmp_path) as server:
        url, pid = server.url, server.pid
        server.kill()
        assert server.pid is None
        assert server.start() == url
        assert server.restart() == url
        assert server.pid not in (None, pid)
    assert server.pid is None


@BOTH
def test_a_taken_port_is_one_line_that_names_it(kind: type[EmbeddedServer], tmp_path: Path) -> None:
    with (
        kind(tmp_path / "first") as first,
        pytest.raises(ServerFailed, match=rf"port {first.port} .* is taken") as failure,
    ):
        kind(tmp_path / "second", port=first.port).start()
    assert "\n" not in str(failure.value)


@pytest.mark.anyio
async def test_what_was_stored_survives_a_kill(tmp_path: Path) -> None:
    with Valkey(tmp_path, fsync="always") as valkey:
        link = RedisLink(valkey.url)
        await link.call("SET", "key", "value")
        valkey.kill()
        valkey.start()
        link_after = RedisLink(valkey.url)
        assert await link_after.call("GET", "key") == b"value"
        await link.close()
        await link_after.close()


def test_a_child_that_ends_at_once_is_reported_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").write_text("no folder")
    with pytest.raises(ServerFailed, match=r"valkey: ended with code 1; .*appendonlydir") as failure:
        Valkey(tmp_path).start()
    assert "\n" not in str(failure.value)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can end a child with its parent")
def test_servers_die_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time; from deploy.local.servers import Nats, Valkey\n"
        "servers = Valkey(sys.argv[1] + '/v'), Nats(sys.argv[1] + '/n')\n"
        "for server in servers: server.start()\n"
        "print(*(server.pid for server in servers), flush=True); time.sleep(60)"
    )
    root = Path(__file__).parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for _ in range(1_000):
        if not any(_is_running(pid) for pid in pids):
            break
        time.sleep(0.01)
    assert [pid for pid in pids if _is_running(pid)] == []


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
