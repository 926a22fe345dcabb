import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from cli.store_url import NoStore, live_store_url, store_url
from deploy.local.run_file import RunFile
from deploy.local.servers import Valkey
from deploy.local.system import ROOT

OF_THE_RUN = "redis://of.the.run"


@pytest.fixture(autouse=True)
def no_redis_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)


@pytest.fixture
def going_on(tmp_path: Path) -> Iterator[None]:
    run_file = RunFile(tmp_path)
    run_file.write(redis_url=OF_THE_RUN, url="http://of.the.run")
    yield
    run_file.remove()


@pytest.fixture
def killed(tmp_path: Path) -> None:
    """A run that could not remove its file any more."""
    program = (
        "import os, signal, sys; from pathlib import Path; from deploy.local.run_file import RunFile\n"
        "RunFile(Path(sys.argv[1])).write(redis_url='redis://127.0.0.1:1', url='')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL


@pytest.mark.usefixtures("going_on")
def test_redis_url_comes_before_a_run_that_is_going_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://told")
    with store_url(tmp_path) as url:
        assert url == "redis://told"


@pytest.mark.usefixtures("going_on")
def test_a_run_that_is_going_on_tells_where_its_store_is(tmp_path: Path) -> None:
    with store_url(tmp_path) as url:
        assert url == OF_THE_RUN
    assert live_store_url(tmp_path) == OF_THE_RUN


@pytest.mark.usefixtures("killed")
def test_a_run_that_was_killed_is_not_going_on(tmp_path: Path) -> None:
    with pytest.raises(NoStore, match=rf"in {tmp_path} \(the last one ended without tidying up\); start one"):
        live_store_url(tmp_path)


@pytest.mark.usefixtures("killed")
def test_what_a_killed_run_left_is_served_like_what_any_run_left(tmp_path: Path) -> None:
    with Valkey(tmp_path / "valkey") as left:
        Redis.from_url(left.url).set("left", "behind")
    with store_url(tmp_path) as url:
        assert Redis.from_url(url).get("left") == b"behind"


@pytest.mark.usefixtures("killed", "going_on")
def test_a_new_run_takes_the_place_of_one_that_was_killed(tmp_path: Path) -> None:
    assert live_store_url(tmp_path) == OF_THE_RUN


@pytest.mark.usefixtures("killed")
def test_a_start_that_fails_does_not_tidy_up_for_the_run_before(tmp_path: Path) -> None:
    RunFile(tmp_path).remove()
    with pytest.raises(NoStore, match="without tidying up"):
        live_store_url(tmp_path)


def test_what_a_run_left_is_served_for_the_time_of_the_command(tmp_path: Path) -> None:
    with Valkey(tmp_path / "valkey") as left:
        Redis.from_url(left.url).set("left", "behind")
    with store_url(tmp_path) as url:
        assert Redis.from_url(url).get("left") == b"behind"


def test_where_no_run_was_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(NoStore, match=f"no run has left matches in {tmp_path}"), store_url(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_a_system_that_is_not_running_is_not_started_for_who_needs_one(tmp_path: Path) -> None:
    (tmp_path / "valkey").mkdir()
    with pytest.raises(NoStore, match=f"no run is going on in {tmp_path}"):
        live_store_url(tmp_path)
    assert not list((tmp_path / "valkey").iterdir())


def test_a_redis_url_that_is_none_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "nowhere")
    with pytest.raises(NoStore, match="REDIS_URL must look like"), store_url(None):
        pass
