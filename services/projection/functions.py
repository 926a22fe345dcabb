"""Calls of the functions in read_models.lua, which is loaded into a Redis that lacks it."""

from collections.abc import Sequence
from importlib import resources

from services.kit.redis_library import is_missing
from services.kit.redis_link import TRIP_COMMANDS_MAX, RedisLink
from services.kit.redis_resp import Reply, settled

_LIBRARY = resources.files("services.projection").joinpath("read_models.lua").read_bytes()


async def called(link: RedisLink, calls: Sequence[bytes]) -> list[Reply]:
    """The replies to `calls`, each an FCALL of ours. Raises StoreUnavailable for an error among them."""
    replies = await _replies(link, calls)
    if any(is_missing(reply) for reply in replies):
        await link.call("FUNCTION", "LOAD", "REPLACE", _LIBRARY)
        replies = await _replies(link, calls)
    return [settled(reply) for reply in replies]


async def _replies(link: RedisLink, calls: Sequence[bytes]) -> list[Reply]:
    replies: list[Reply] = []
    for start in range(0, len(calls), TRIP_COMMANDS_MAX):
        trip = calls[start : start + TRIP_COMMANDS_MAX]
        replies += await link.ask(b"".join(trip), len(trip))
    return replies
