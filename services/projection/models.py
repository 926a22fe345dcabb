"""The read models in Redis: a hash of summaries and sorted sets of match ids, by generation.

All keys share one hash tag, so that a summary and its lists change together. A rebuild fills the
next generation while the present one is read; `swap` makes it the present one.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

import msgspec
from redis.asyncio import Redis

from services.core.errors import BadRequest, StoreUnavailable
from services.core.ids import MatchId
from services.kit.plain_redis import answered
from services.projection.lists import lists_of
from services.projection.summary import Summary

_TAG = "{projection}"
_GENERATION = f"{_TAG}:generation"
_BUILDING = f"{_TAG}:building"
_LIBRARY = resources.files("services.projection").joinpath("read_models.lua").read_text()

# How many matches may share a creation millisecond before a page has to be fetched in more trips.
_TIES = 64


class Change(NamedTuple):
    """A summary to be replaced: `before` is what the writer has read, None for a new match."""

    before: Summary | None
    after: Summary


class Page(NamedTuple):
    """Summaries, newest first, and the token of the page after; empty at the end."""

    summaries: list[Summary]
    next_token: str


_decode = msgspec.json.Decoder(Summary).decode
_encode = msgspec.json.Encoder().encode


class ReadModels:
    """Read and write access for the projection. Raises StoreUnavailable when Redis does not answer."""

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis

    async def generations(self) -> list[int]:
        """The present generation, then the one being built, if any. Writers write to all of them."""
        present, building = await answered(self._redis.mget(_GENERATION, _BUILDING))
        return [int(present or 1), *([int(building)] if building else [])]

    async def load(self, generation: int, matches: Sequence[MatchId]) -> list[Summary | None]:
        """The summaries of `matches`, in order; None for unknown ones."""
        if not matches:
            return []
        stored = await answered(self._redis.hmget(_summaries(generation), list(matches)))
        return [_decode(raw) if raw else None for raw in stored]

    async def save(self, generation: int, changes: Sequence[Change]) -> list[bool]:
        """Whether each change was made; False where somebody else was faster, and nothing changed."""
        try:
            return await self._save(generation, changes)
        except StoreUnavailable as error:
            if "Function not found" not in str(error):
                raise
            await answered(self._redis.function_load(_LIBRARY, replace=True))
            return await self._save(generation, changes)

    async def _save(self, generation: int, changes: Sequence[Change]) -> list[bool]:
        pipe = self._redis.pipeline(transaction=False)
        for before, after in changes:
            old, new = lists_of(before), lists_of(after)
            leaving = [_list(generation, name) for name in old if name not in new]
            standing = [
                item
                for name, score in new.items()
                if old.get(name) != score
                for item in (_list(generation, name), score)
            ]
            stored = _encode(before) if before else b""
            args = (after.match, stored, _encode(after), len(leaving), *leaving, *standing)
            pipe.fcall("put_summary", 1, _summaries(generation), *args)
        return [bool(done) for done in await answered(pipe.execute())]

    async def page(self, name: str, size: int, token: str) -> Page:
        """A page of the list `name`. Raises BadRequest for a token that is none of ours."""
        (generation, *_) = await self.generations()
        below, last = _read_token(token)
        ids: list[str] = []
        offset, batch = 0, size + 1 + _TIES
        while len(ids) <= size:
            found = await answered(
                self._redis.zrevrangebyscore(
                    _list(generation, name), below, "-inf", start=offset, num=batch, withscores=True
                )
            )
            ids += [member.decode() for member, score in found if score != below or member.decode() < last]
            offset += batch
            if len(found) < batch:
                break
        loaded = await self.load(generation, [MatchId(match) for match in ids[:size]])
        summaries = [summary for summary in loaded if summary]
        return Page(summaries, _token(summaries[-1]) if len(ids) > size and summaries else "")

    async def begin_building(self) -> int:
        """The number of a new, empty generation, which writers fill too from now on."""
        building = (await self.generations())[0] + 1
        await self._drop(building)
        await answered(self._redis.set(_BUILDING, building))
        return building

    async def swap(self, building: int) -> None:
        """Makes `building` the present generation and removes the one before."""
        pipe = self._redis.pipeline(transaction=True)
        pipe.set(_GENERATION, building)
        pipe.delete(_BUILDING)
        await answered(pipe.execute())
        await self._drop(building - 1)

    async def give_up(self, building: int) -> None:
        """Forgets `building`; the present generation stays."""
        await answered(self._redis.delete(_BUILDING))
        await self._drop(building)

    async def _drop(self, generation: int) -> None:
        async for key in self._redis.scan_iter(match=f"{_TAG}:{generation}:*", count=1000):
            await self._redis.unlink(key)


def _summaries(generation: int) -> str:
    return f"{_TAG}:{generation}:summaries"


def _list(generation: int, name: str) -> str:
    return f"{_TAG}:{generation}:list:{name}"


def _token(last: Summary) -> str:
    return urlsafe_b64encode(f"{last.created_at}:{last.match}".encode()).decode()


def _read_token(token: str) -> tuple[float, str]:
    """(score, id) of the last match of the page before; everything is below infinity."""
    if not token:
        return float("inf"), ""
    try:
        score, _, match = urlsafe_b64decode(token.encode()).decode().partition(":")
        return float(int(score)), match
    except (ValueError, OverflowError) as error:
        raise BadRequest("page_token", "is not one that a page gave") from error
