"""Generations of the read models: the present one, which is read, and at most one that a rebuild fills.

Who fills one holds a claim in Redis and keeps renewing it. A claim that nobody renews lapses, so a rebuild
whose process died is in nobody's way for long. No number is given twice: a rebuild that lost its claim
without noticing, as a suspended process does, writes where nobody reads.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import cast

import structlog

from services.core.errors import OUTAGES, RebuildUnderWay, ServiceDown
from services.kit.redis_link import RedisLink
from services.kit.redis_resp import command
from services.projection.functions import called

log = structlog.get_logger()

TAG = "{projection}"
_PRESENT = f"{TAG}:generation"
_BUILDING = f"{TAG}:building"
_NUMBERED = f"{TAG}:numbered"

CLAIM_S = 60.0  # a rebuild renews with every page, which takes some seconds at worst
_SCAN = 1000


async def generations(link: RedisLink) -> list[int]:
    """The present generation, then the one being filled, if any. Writers write to all of them."""
    present, building = cast("list[bytes | None]", await link.call("MGET", _PRESENT, _BUILDING))
    return [int(present or 1), *([int(building)] if building else [])]


class Claim:
    """The right to fill generation `number`, which writers fill too while it lasts."""

    def __init__(self, link: RedisLink, number: int, lasts_s: float) -> None:
        self.number = number
        self._link = link
        self._lasts_s = lasts_s

    async def renew(self) -> None:
        """Makes the claim last as long again from now on. Raises ServiceDown if it has lapsed."""
        lasts_ms = round(self._lasts_s * 1000)
        if not await self._called("renew_claim", (_BUILDING,), lasts_ms):
            raise self._lapsed()

    async def fulfil(self) -> None:
        """Makes the generation the present one and ends the claim. Raises ServiceDown if it has lapsed."""
        if not await self._called("fulfil_claim", (_BUILDING, _PRESENT)):
            raise self._lapsed()
        try:
            # What was read until now, and what lapsed claims left. Later numbers may be somebody's claim.
            await _remove(self._link, lambda number: 0 < number < self.number)
        except OUTAGES as error:  # it is done all the same, and the next one removes what is left
            log.warning("generations_left_behind", detail=str(error))

    async def give_up(self) -> None:
        """Ends the claim and removes what was filled.

        One that has lapsed is left alone: it may be the present one by now, if an answer was lost.
        """
        if await self._called("give_up_claim", (_BUILDING,)):
            await _remove(self._link, lambda number: number == self.number)

    async def _called(self, function: str, keys: Sequence[str], *args: int) -> bool:
        call = command("FCALL", function, len(keys), *keys, self.number, *args)
        return bool((await called(self._link, [call]))[0])

    def _lapsed(self) -> ServiceDown:
        return ServiceDown("projection", f"its rebuild stood still for {self._lasts_s:g} s and has lapsed")


async def claimed(link: RedisLink, lasts_s: float = CLAIM_S) -> Claim:
    """A claim to a new, empty generation. Raises RebuildUnderWay while somebody else holds one."""
    call = command("FCALL", "claim_generation", 3, _PRESENT, _BUILDING, _NUMBERED, round(lasts_s * 1000))
    number = cast(int, (await called(link, [call]))[0])
    if not number:
        raise RebuildUnderWay
    return Claim(link, number, lasts_s)


@asynccontextmanager
async def next_generation(link: RedisLink) -> AsyncIterator[Claim]:
    """A claim to a new generation, which becomes the present one at the end of the block.

    If the block raises, what was filled is removed and the present generation stays. Raises
    RebuildUnderWay while somebody else holds a claim, and ServiceDown if this one has lapsed.
    """
    claim = await claimed(link)
    try:
        yield claim
        await claim.fulfil()
    except BaseException:
        with suppress(*OUTAGES):  # then it lapses; why it ends is what counts
            await claim.give_up()
        raise


async def _remove(link: RedisLink, is_gone: Callable[[int], bool]) -> None:
    """Removes all keys of the generations whose numbers are gone."""
    cursor = b"0"
    while True:
        page = await link.call("SCAN", cursor, "MATCH", f"{TAG}:*", "COUNT", _SCAN)
        cursor, keys = cast("tuple[bytes, list[bytes]]", page)
        if gone := [key for key in keys if is_gone(_number(key))]:
            await link.call("UNLINK", *gone)
        if cursor == b"0":
            return


def _number(key: bytes) -> int:
    """Of the generation that a key belongs to; 0 for one that belongs to none."""
    number = key.split(b":")[1]
    return int(number) if number.isdigit() else 0
