"""What is stored stays stored, whatever becomes of its news."""

import random
from types import SimpleNamespace
from typing import cast

import pytest
from structlog.testing import capture_logs

from services.core.commands import SubmitMove
from services.kit.relay import Relay
from services.rules.ledger import Ledger
from services.rules.live import Live
from services.rules.press import Press
from tests.rules.hosting import PLAYERS, any_move

pytestmark = pytest.mark.anyio


class FailingLive(Live):
    def push(self, news) -> None:
        raise ZeroDivisionError


@pytest.mark.parametrize("live", [Live(), FailingLive()])
async def test_a_command_whose_news_cannot_be_told_is_answered_all_the_same(host, match, live):
    relayed = []

    def publish(stream, entry, payload) -> None:
        relayed.append(entry.version)
        raise OverflowError

    press = Press(live, cast(Relay, SimpleNamespace(publish=publish)))
    host.desk._ledger = Ledger(host.library.slug, host.store, host.shelf, press.tell)
    there = await host.now(match)
    (seat, *_) = sorted(there.to_act)
    move = SubmitMove(move=any_move(there, seat, random.Random(1)))
    with capture_logs() as logs:
        accepted = await host.does(match, PLAYERS[seat], move)
    assert accepted.version == there.version + 1
    assert (await host.now(match)).version == accepted.version
    assert [line["version"] for line in logs if line["event"] == "news_failed"] == [accepted.version]
    assert relayed == ([] if isinstance(live, FailingLive) else [accepted.version])
