"""Which table a quick match goes for, written down before it tries to sit there.

So the same request sent again, to any lobby, at any time, tries the same table first: it finds the seat
that it took before, and never takes a second one elsewhere.
"""

from typing import Any

import msgspec
from msgspec import Struct
from redis.asyncio import Redis

from services.core.errors import RequestIdReused
from services.core.ids import MatchId, PlayerId
from services.kit.plain_redis import answered

# As long as a client may take to repeat a request.
REMEMBERED_MS = 24 * 60 * 60 * 1000

# The goal changes only from the one that the caller knows: of two copies of a request, both follow one.
# One that is gone, as when Redis lost its last second, is no other copy's.
_AIM = """
local standing = redis.call('GET', KEYS[1])
if not standing or standing == ARGV[1] then
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
    return ARGV[2]
end
return standing
"""


class QuickRequest(Struct, frozen=True):
    """One request of one player. `fingerprint`: of what it asks for."""

    player: PlayerId
    request_id: str
    fingerprint: str


class _Intent(Struct, frozen=True):
    match: MatchId
    fingerprint: str


class Intents:
    """The goals in Redis. Methods raise RequestIdReused when the request asked for something else before."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._aim: Any = redis.register_script(_AIM)

    async def goal(self, request: QuickRequest) -> MatchId | None:
        """The table that the request goes for; None if it is new."""
        raw = await answered(self._redis.get(_key(request)))
        return None if raw is None else _read(request, raw)

    async def aim(self, request: QuickRequest, given_up: MatchId | None, at: MatchId) -> MatchId:
        """Goes for `at` now that `given_up` is no use. The goal that stands, which may be another copy's."""
        before = b"" if given_up is None else _written(request, given_up)
        arguments = [before, _written(request, at), REMEMBERED_MS]
        return _read(request, await answered(self._aim(keys=[_key(request)], args=arguments)))


def _key(request: QuickRequest) -> str:
    return f"waiting:intent:{len(request.player)}:{request.player}:{request.request_id}"


def _written(request: QuickRequest, match: MatchId) -> bytes:
    return msgspec.json.encode(_Intent(match, request.fingerprint))


def _read(request: QuickRequest, raw: bytes) -> MatchId:
    intent = msgspec.json.decode(raw, type=_Intent)
    if intent.fingerprint != request.fingerprint:
        raise RequestIdReused(1)
    return intent.match
