"""The read models in Redis: a hash of summaries and sorted sets of match ids, by generation.

All keys share one hash tag, so that a summary and its lists change together. A rebuild fills the
next generation while the present one is read (`services.projection.generations`).
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, TypeVar, cast

import msgspec

from services.core.errors import BadRequest
from services.core.ids import MatchId
from services.kit.redis_link import RedisLink
from services.kit.redis_resp import command
from services.projection.functions import called
from services.projection.generations import TAG, Claim, generations, next_generation
from services.projection.lists import Places, lists_of
from services.projection.summary import Summary

T = TypeVar("T")

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

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def generations(self) -> list[int]:
        """The present generation, then the one being built, if any. Writers write to all of them."""
        return await generations(self._link)

    def next_generation(self) -> AbstractAsyncContextManager[Claim]:
        """A new, empty generation to be filled within the block; see `generations.next_generation`."""
        return next_generation(self._link)

    async def load(self, generation: int, matches: Sequence[MatchId]) -> list[Summary | None]:
        """The summaries of `matches`, in order; None for unknown ones."""
        if not matches:
            return []
        stored = await self._link.call("HMGET", _summaries(generation), *matches)
        return [_decode(raw) if raw else None for raw in cast("list[bytes | None]", stored)]

    async def save(self, generation: int, changes: Sequence[Change]) -> list[bool]:
        """Whether each change was made; False where somebody else was faster, and nothing changed."""
        replies = await called(self._link, [_put(generation, change) for change in changes])
        return [bool(reply) for reply in replies]

    async def summary(self, match: MatchId) -> Summary | None:
        """Of the present generation; None for an unknown match."""
        (found,) = await self._in_present(lambda generation: self.load(generation, [match]))
        return found

    async def page(self, name: str, size: int, token: str) -> Page:
        """A page of the list `name`. Raises BadRequest for a token that is none of ours."""
        return await self._in_present(lambda generation: self._page(generation, name, size, token))

    async def _in_present(self, read: Callable[[int], Awaitable[T]]) -> T:
        """What `read` finds in the present generation.

        Read again after a swap: what it swapped out is removed, so that less was found than there is.
        """
        (generation, *_) = await self.generations()
        while True:  # a swap is the end of a whole rebuild
            found = await read(generation)
            (present, *_) = await self.generations()
            if present == generation:
                return found
            generation = present

    async def _page(self, generation: int, name: str, size: int, token: str) -> Page:
        below, last = _read_token(token)
        ids: list[str] = []
        offset, batch = 0, size + 1 + _TIES
        while len(ids) <= size:
            found = await self._standing(_list(generation, name), below, offset, batch)
            ids += [match for match, score in found if score != below or match < last]
            offset += batch
            if len(found) < batch:
                break
        loaded = await self.load(generation, [MatchId(match) for match in ids[:size]])
        summaries = [summary for summary in loaded if summary]
        return Page(summaries, _token(summaries[-1]) if len(ids) > size and summaries else "")

    async def _standing(
        self, list_: str, below: float, offset: int, count: int
    ) -> list[tuple[MatchId, float]]:
        """Matches of a list and their scores, newest first, from the score `below` on."""
        bounds = (str(below), "-inf", "WITHSCORES", "LIMIT", offset, count)
        found = cast("list[bytes]", await self._link.call("ZREVRANGEBYSCORE", list_, *bounds))
        return [
            (MatchId(match.decode()), float(score))
            for match, score in zip(found[::2], found[1::2], strict=True)
        ]


def _put(generation: int, change: Change) -> bytes:
    """The command that makes a change."""
    before, after = change
    leaving, standing = _moved(generation, lists_of(before), lists_of(after))
    stored = _encode(before) if before else b""
    args = (after.match, stored, _encode(after), len(leaving), *leaving, *standing)
    return command("FCALL", "put_summary", 1, _summaries(generation), *args)


def _moved(generation: int, old: Places, new: Places) -> tuple[list[str], list[str | int]]:
    """The keys of lists to leave; key and score, in turn, of lists to stand in."""
    if old == new:  # as after nearly every move
        return [], []
    leaving = [_list(generation, name) for name in old if name not in new]
    standing = [
        item
        for name, score in new.items()
        if old.get(name) != score
        for item in (_list(generation, name), score)
    ]
    return leaving, standing


def _summaries(generation: int) -> str:
    return f"{TAG}:{generation}:summaries"


def _list(generation: int, name: str) -> str:
    return f"{TAG}:{generation}:list:{name}"


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
