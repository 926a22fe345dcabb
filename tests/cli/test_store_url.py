import json
from pathlib import Path

import pytest
from redis import Redis

from cli.store_url import NoStore, live_store_url, store_url
from deploy.local.servers import Valkey
from deploy.local.system import RUN_FILE


@pytest.fixture(autouse=True)
def no_redis_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)


def test_redis_url_comes_before_a_run_that_is_going_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / RUN_FILE).write_text(json.dumps({"redis_url": "redis://of.the.run"}))
    monkeypatch.setenv("REDIS_URL", "redis://told")
    with store_url(tmp_path) as url:
        assert url == "redis://told"


def test_a_run_that_is_going_on_tells_where_its_store_is(tmp_path: Path) -> None:
    (tmp_path / RUN_FILE).write_text(json.dumps({"redis_url": "redis://of.the.run"}))
    with store_url(tmp_path) as url:
        assert url == "redis://of.the.run"


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
