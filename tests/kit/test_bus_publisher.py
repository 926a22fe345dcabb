"""How many letters may wait for their confirmations, and for how long."""

from typing import cast

import pytest

from services.core.ids import StreamName
from services.kit import bus_publisher
from services.kit.bus import Bus
from services.kit.bus_client import BusClient, Delivery
from services.kit.bus_publisher import ACK_S_MAX, Letter, Publisher
from services.kit.store import Published

pytestmark = pytest.mark.anyio


class Silent:
    """A connection on which nothing is confirmed."""

    is_connected = True
    max_payload = 1_000_000

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    async def send(self, messages: list[bytes]) -> None:
        self.sent += messages


class Desk:
    """A publisher whose letters are numbered from 1, and what has become of them."""

    def __init__(self) -> None:
        self.client = Silent()
        self.settled: list[tuple[int, bool]] = []
        self.publisher = Publisher(cast(Bus, None), self._settle)

    def _settle(self, entry: Published, confirmed: bool) -> None:
        self.settled.append((entry.version, confirmed))

    def offer(self, *numbers: int) -> None:
        for number in numbers:
            entry = Published(StreamName("match/m"), number)
            assert self.publisher.offer(Letter(entry, "events.o.0.m", f"m:{number}", b"{}"))

    async def send(self) -> None:
        await self.publisher._send(cast(BusClient, self.client), "inbox")

    def confirm(self, number: int) -> None:
        self.publisher._confirm(Delivery(b"inbox.%d" % number, b"", b'{"stream":"EVENTS"}', b""))


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_letters_beyond_the_bound_wait_until_others_are_confirmed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_publisher, "OUTSTANDING_MAX", 3)
    desk.offer(1, 2, 3, 4, 5)
    await desk.send()
    await desk.send()
    assert len(desk.client.sent) == 3
    desk.confirm(2)
    await desk.send()
    assert len(desk.client.sent) == 4
    assert desk.settled == [(2, True)]


async def test_a_letter_that_is_not_confirmed_in_time_is_given_up_and_makes_room(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(bus_publisher.time, "monotonic", lambda: now)
    desk.offer(1)
    await desk.send()
    now += ACK_S_MAX - 1
    desk.offer(2)
    await desk.send()
    desk.publisher._give_up_overdue()
    assert desk.settled == []
    now += 2
    desk.publisher._give_up_overdue()
    assert desk.settled == [(1, False)]
    desk.confirm(1)  # too late to count
    desk.confirm(2)
    assert desk.settled == [(1, False), (2, True)]
