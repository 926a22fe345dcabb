import pytest

from services.core.errors import RequestIdReused
from services.core.ids import MatchId, PlayerId
from services.lobby.intents import Intents, QuickRequest
from tests.lobby.hosting import Site

pytestmark = pytest.mark.anyio

REQUEST = QuickRequest(PlayerId("ann"), "q1", "of what ann wants")
FIRST, SECOND, THIRD = MatchId("first"), MatchId("second"), MatchId("third")


async def test_of_two_copies_of_a_request_both_follow_one(site: Site) -> None:
    intents = Intents(site.redis)
    assert await intents.aim(REQUEST, None, FIRST) == FIRST
    assert await intents.aim(REQUEST, None, SECOND) == FIRST
    assert await intents.aim(REQUEST, FIRST, SECOND) == SECOND
    assert await intents.aim(REQUEST, FIRST, THIRD) == SECOND
    assert await intents.goal(REQUEST) == SECOND


async def test_a_goal_that_redis_has_lost_meanwhile_is_set_again(site: Site) -> None:
    intents = Intents(site.redis)
    await intents.aim(REQUEST, None, FIRST)
    await site.redis.flushall()
    assert await intents.aim(REQUEST, FIRST, SECOND) == SECOND
    assert await intents.goal(REQUEST) == SECOND


async def test_a_request_that_asked_for_something_else_is_refused(site: Site) -> None:
    intents = Intents(site.redis)
    await intents.aim(REQUEST, None, FIRST)
    other = QuickRequest(REQUEST.player, REQUEST.request_id, "of what ann wants now")
    with pytest.raises(RequestIdReused):
        await intents.goal(other)
    with pytest.raises(RequestIdReused):
        await intents.aim(other, None, SECOND)
