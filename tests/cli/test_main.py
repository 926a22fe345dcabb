"""Commands as an operator calls them: nothing is made by asking, and what goes wrong is one line."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from cli import main, recording
from deploy.local.servers import Valkey
from deploy.local.system import ROOT
from services.core.ids import MatchId, match_stream
from services.kit.redis_keys import stream_key, streams_key
from services.kit.store import partition

ASKING = [["replay", "m1"], ["verify"], ["verify", "--match", "m1"], ["rebuild"]]
AT_A_STORE = [["replay", "m1"], ["verify"], ["shadow", "--redis"]]


def left(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of the command."""
    monkeypatch.setattr(sys, "argv", ["waystation", *arguments])
    with pytest.raises(SystemExit) as leaving:
        main.main()
    assert isinstance(leaving.value.code, int)
    return leaving.value.code


@pytest.mark.parametrize("arguments", ASKING, ids=" ".join)
def test_a_command_that_asks_makes_nothing_in_a_folder_without_a_run(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    assert left(arguments, monkeypatch) == 1
    told = "".join(capsys.readouterr())
    assert (told.count("\n"), f"in {tmp_path / 'data'};" in told) == (1, True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", AT_A_STORE, ids=" ".join)
def test_a_command_that_asks_puts_nothing_into_the_store(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Valkey(tmp_path) as valkey:
        monkeypatch.setenv("REDIS_URL", valkey.url)
        left([*arguments, valkey.url] if arguments[-1] == "--redis" else arguments, monkeypatch)
        redis = Redis.from_url(valkey.url)
        assert (redis.dbsize(), redis.function_list()) == (0, [])


@pytest.mark.parametrize("url", ["nowhere", "redis://127.0.0.1:1"])
def test_a_store_that_cannot_be_asked_is_one_line(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert left(["shadow", "--redis", url], monkeypatch) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_title_that_is_none_is_not_taken_for_one_without_recorded_matches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert left(["shadow", "nosuch"], monkeypatch) == 1
    assert capsys.readouterr().err == "waystation: no title nosuch\n"


def test_of_a_stream_that_cannot_be_read_shadow_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Valkey(tmp_path) as valkey:
        redis = Redis.from_url(valkey.url)
        for match in (MatchId("m1"), MatchId("m2")):
            stream = match_stream(match)
            redis.sadd(streams_key(partition(match)), stream)
            redis.set(stream_key(stream), "no stream")
        assert left(["shadow", "--redis", valkey.url], monkeypatch) == 1
    *damaged, summary = capsys.readouterr().out.splitlines()
    assert {line.partition(":")[0] for line in damaged} == {"m1", "m2"}
    assert summary == "2 matches, 0 identical"


@pytest.mark.parametrize("arguments", [["record-match", "make_way"], ["shadow"]], ids=" ".join)
def test_a_reader_who_goes_away_ends_a_command_without_a_traceback(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        command = [sys.executable, "-m", "cli.main", *arguments]
        ended = subprocess.run(command, cwd=ROOT, stdout=nobody, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.fixture
def heeds_interrupts() -> Iterator[None]:
    """As in a terminal: what a shell starts in the background ignores SIGINT, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_an_interrupted_command_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def interrupted(url: str) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(recording, "shadow_redis", interrupted)
    assert left(["shadow", "--redis", "redis://127.0.0.1:1"], monkeypatch) == 130
    assert capsys.readouterr().err == "waystation: interrupted; nothing was changed\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["shadow", "wayfare", "--store"],
        ["shadow", "--store", "--redis", "redis://127.0.0.1:1"],
        ["verify", "record.json", "--match", "m1"],
    ],
    ids=" ".join,
)
def test_arguments_that_exclude_one_another_are_one_line_and_exit_code_2(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["waystation", *arguments])
    with pytest.raises(SystemExit) as leaving:
        main.main()
    assert (leaving.value.code, capsys.readouterr().err.count("\n")) == (2, 1)
