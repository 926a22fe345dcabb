"""The embedded servers: ready when they say so, back with their data, gone with their parent."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local import servers
from deploy.local.servers import EmbeddedServer, Nats, ServerFailed, Valkey
from services.kit.redis_link import RedisLink
from tests.waiting import wait_until

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


@BOTH
def test_two_servers_never_share_their_files(
    kind: type[EmbeddedServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "HELD_S_MAX", 0.1)
    with kind(tmp_path):
        second = kind(tmp_path)
        with pytest.raises(ServerFailed, match=f"another process serves what is in {tmp_path}") as failure:
            second.start()
        assert "\n" not in str(failure.value)
    with second:
        assert second.pid


def started_by_a_parent(tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """The parent, and its Valkey and NATS."""
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
    with parent.stdout:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    return parent, pids


def kill(parent: subprocess.Popen[str]) -> None:
    parent.kill()
    parent.wait()


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can end a child with its parent")


@ON_LINUX
def test_servers_die_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    parent, pids = started_by_a_parent(tmp_path)
    kill(parent)
    wait_until(lambda: not any(map(_is_running, pids)), f"{pids} are gone")


@ON_LINUX
def test_a_server_that_outlives_its_parent_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, (pid, _) = started_by_a_parent(tmp_path)
    os.kill(pid, signal.SIGSTOP)  # it will not heed that its parent is gone
    kill(parent)
    monkeypatch.setattr(servers, "HELD_S_MAX", 0.1)
    with pytest.raises(ServerFailed, match="another process serves"):
        Valkey(tmp_path / "v").start()
    monkeypatch.undo()
    os.kill(pid, signal.SIGCONT)
    with Valkey(tmp_path / "v"):
        assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
