"""What one player, address or body may cost: a bound for everything that strangers could make grow."""

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from services.core.errors import Overloaded, TooManyRequests

BODY_BYTES_MAX = 64 * 1024
KEYS_MAX = 100_000


class Buckets:
    """Token buckets by key. A bucket holds `burst` tokens and gains `rate` per second; rate 0 is no limit.

    At most KEYS_MAX buckets are kept; the one unused for longest is forgotten, and so full again.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, cost: float = 1.0) -> None:
        """Raises TooManyRequests, and takes nothing, when fewer than `cost` tokens are left."""
        if not self._rate:
            return
        now = self._clock()
        level, at = self._levels.get(key, (float(self._burst), now))
        level = min(self._burst, level + (now - at) * self._rate)
        is_enough = level >= cost
        self._levels[key] = (level - cost if is_enough else level, now)
        self._levels.move_to_end(key)
        if len(self._levels) > KEYS_MAX:
            self._levels.popitem(last=False)
        if not is_enough:
            raise TooManyRequests(max(1, math.ceil((cost - level) / self._rate)))

    def give(self, key: str, cost: float = 1.0) -> None:
        """Puts back what was taken."""
        if key in self._levels:
            level, at = self._levels[key]
            self._levels[key] = (min(self._burst, level + cost), at)


class Held:
    """How many of something each key holds at this moment."""

    def __init__(self, what: str, per_key: int, in_all: int) -> None:
        self._what = what
        self._per_key = per_key
        self._in_all = in_all
        self._held: Counter[str] = Counter()
        self._total = 0

    @contextmanager
    def one(self, key: str) -> Iterator[None]:
        """Holds one for `key`. Raises Overloaded when it would be one too many."""
        if self._total >= self._in_all:
            raise Overloaded(self._what, self._in_all, 1)
        if self._held[key] >= self._per_key:
            raise Overloaded(f"{self._what} of one caller", self._per_key, 1)
        self._held[key] += 1
        self._total += 1
        try:
            yield
        finally:
            self._total -= 1
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
