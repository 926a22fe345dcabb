"""The queue of one client: what fits, what does not, and what becomes of it at the end."""

import asyncio

import pytest

from gateway.live import outbox as outbox_module
from gateway.live.frames import Frame
from gateway.live.outbox import Outbox, OutboxFull

pytestmark = pytest.mark.anyio


def frame(version: int, size: int = 1) -> Frame:
    return Frame("event", version, bytes(size))


def versions(frames: list[Frame]) -> list[int]:
    return [each.version for each in frames]


async def test_one_frame_more_than_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "FRAMES_MAX", 3)
    outbox = Outbox()
    for version in (1, 2, 3):
        outbox.put(frame(version))
    with pytest.raises(OutboxFull):
        outbox.put(frame(4))
    assert versions(await outbox.take()) == [1, 2, 3]
    outbox.put(frame(5))
    assert versions(await outbox.take()) == [5]


async def test_one_byte_more_than_the_bound_is_refused_until_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbox_module, "BYTES_MAX", 100)
    outbox = Outbox()
    outbox.put(frame(1, 60))
    with pytest.raises(OutboxFull):
        outbox.put(frame(2, 41))
    outbox.put(frame(3, 40))
    assert versions(await outbox.take()) == [1, 3]
    for version in (4, 5):
        outbox.put(frame(version, 50))
    assert versions(await outbox.take()) == [4, 5]


async def test_a_frame_larger_than_the_bound_fits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "BYTES_MAX", 100)
    outbox = Outbox()
    outbox.put(frame(1, 1_000))
    with pytest.raises(OutboxFull):
        outbox.put(frame(2))
    assert versions(await outbox.take()) == [1]


async def test_frames_that_wait_are_taken_together_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "TOGETHER_BYTES_MAX", 10)
    outbox = Outbox()
    for version in (1, 2, 3):
        outbox.put(frame(version, 5))
    assert versions(await outbox.take()) == [1, 2]
    assert versions(await outbox.take()) == [3]


async def test_who_waits_is_given_the_next_frame() -> None:
    outbox = Outbox()
    taking = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    outbox.put(frame(1))
    assert versions(await taking) == [1]


async def test_what_was_put_before_the_end_is_still_taken_and_nothing_put_after_it() -> None:
    outbox = Outbox()
    outbox.put(frame(1))
    outbox.close()
    outbox.put(frame(2))
    assert versions(await outbox.take()) == [1]
    assert await outbox.take() == []


async def test_an_abandoned_outbox_gives_nothing_and_keeps_nobody_waiting() -> None:
    outbox = Outbox()
    outbox.put(frame(1))
    outbox.abandon()
    assert await outbox.take() == []
    waited = Outbox()
    taking = asyncio.create_task(waited.take())
    await asyncio.sleep(0)
    waited.abandon()
    assert await taking == []
