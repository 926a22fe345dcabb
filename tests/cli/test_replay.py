import asyncio
from collections.abc import Iterator
from itertools import repeat

import pytest

from cli import replay

pytestmark = pytest.mark.anyio


class Store:
    """Holds a match of one entry."""

    async def read(self, stream: str) -> list[bytes]:
        return [b"entry"]

    async def seed(self, match: str) -> bytes:
        return b"seed"

    async def close(self) -> None: ...


class Step:
    """A version, whatever it is, of a match of two."""

    class match:  # noqa: N801 - an attribute of a step
        version = 1

        class started:  # noqa: N801
            seats = ("ann", "bob")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"version": 0}, "no version 0: m1 has 1 to 1"),
        ({"version": 2}, "no version 2: m1 has 1 to 1"),
        ({"seat": -1}, "no seat -1: m1 has 0 to 1"),
        ({"seat": 2}, "no seat 2: m1 has 0 to 1"),
    ],
)
async def test_what_a_match_does_not_have_is_told_and_nothing_shown(monkeypatch, capsys, asked, says):
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setattr(replay.RedisStore, "reading", lambda url: Store())
    monkeypatch.setattr(replay, "replayed", lambda *_: [Step])
    given = {"version": None, "seat": None, **asked}
    assert await replay.print_replay("m1", **given, data=None) == 1
    assert capsys.readouterr().out == f"{says}\n"


async def test_a_long_replay_can_be_interrupted_between_two_versions(monkeypatch, capsys):
    def steps(*_: object) -> Iterator[type[Step]]:
        return repeat(Step, 5)

    def shown_while_interrupted(step: type[Step], seat: int | None) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()  # as Ctrl-C does it
        return "a version"

    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setattr(replay.RedisStore, "reading", lambda url: Store())
    monkeypatch.setattr(replay, "replayed", steps)
    monkeypatch.setattr(replay, "_shown", shown_while_interrupted)
    replaying = asyncio.create_task(replay.print_replay("m1", version=None, seat=None, data=None))
    with pytest.raises(asyncio.CancelledError):
        await replaying
    assert capsys.readouterr().out == "a version\n"
