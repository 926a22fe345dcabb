"""A cache that cannot grow: bounded by how many values it holds, their bytes, and how long they idle."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from msgspec import Struct

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Room(Struct, frozen=True, kw_only=True):
    """What a cache may take. `idle_s`: a value unused for longer is forgotten by `forget_idle`."""

    values: int
    bytes: int
    idle_s: float = float("inf")


class _Kept(Generic[V]):
    __slots__ = ("used_at", "value", "weight")

    def __init__(self, value: V, weight: int, used_at: float) -> None:
        self.value = value
        self.weight = weight
        self.used_at = used_at


class Cache(Generic[K, V]):
    """The value unused for longest goes first. One value alone may weigh more than there is room for."""

    def __init__(self, room: Room, clock: Callable[[], float] = time.monotonic) -> None:
        self._room = room
        self._clock = clock
        self._kept: OrderedDict[K, _Kept[V]] = OrderedDict()
        self._weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """Bytes of all values together, as their keepers weighed them."""
        return self._weight

    def find(self, key: K) -> V | None:
        """The value, which has then been used just now."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        kept.used_at = self._clock()
        self._kept.move_to_end(key)
        return kept.value

    def keep(self, key: K, value: V, weight: int) -> None:
        """`weight`: about how many bytes of memory the value takes."""
        self.drop(key)
        self._kept[key] = _Kept(value, weight, self._clock())
        self._weight += weight
        while len(self._kept) > self._room.values or (
            self._weight > self._room.bytes and len(self._kept) > 1
        ):
            self._weight -= self._kept.popitem(last=False)[1].weight

    def drop(self, key: K) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._weight -= kept.weight

    def clear(self) -> None:
        self._kept.clear()
        self._weight = 0

    def forget_idle(self) -> int:
        """How many values were forgotten because nobody has used them for `idle_s`."""
        oldest, before = self._clock() - self._room.idle_s, len(self._kept)
        while self._kept and next(iter(self._kept.values())).used_at < oldest:
            self._weight -= self._kept.popitem(last=False)[1].weight
        return before - len(self._kept)
