import pytest

from services.core import errors
from services.core.ids import MatchId, table_stream
from services.kit.redis_keys import stream_key
from tests.lobby.hosting import OPEN_TABLES, Site

pytestmark = pytest.mark.anyio


async def test_a_damaged_table_is_none_that_its_host_has_open(site: Site) -> None:
    ann = site.player("ann")
    damaged, *_ = [(await ann.creates()).table.match for _ in range(OPEN_TABLES)]
    await site.redis.xadd(stream_key(table_stream(MatchId(damaged))), {"e": b"{}", "h": bytes(32)}, id="2-0")
    await site.add_lobby()  # which has not folded it before
    ann = site.player("ann", lobby=1)
    await ann.creates()
    with pytest.raises(errors.LimitReached):
        await ann.creates()
