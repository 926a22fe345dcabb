"""The only source of luck, in two forms that a title cannot tell apart.

`Rolling` decides: it derives outcomes from the match's key and remembers them for the event.
`Recorded` replays: it plays back what an event says and never draws. An outcome is stored as
indices, never as cards, so that one form serves every title.
"""

import hmac
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Protocol, TypeVar

T = TypeVar("T")

# Storage format: one outcome of luck. An int answers `below`; a list of indices answers
# `shuffle` (a permutation) or `draw` (different indices, in the order drawn).
LuckOutcome = int | list[int]

_WORD = 1 << 32


class Chance(Protocol):
    """What a title may ask of luck. Every call is one outcome, recorded in its event."""

    def shuffle(self, items: Sequence[T]) -> list[T]:
        """All `items` in random order; a new list."""

    def draw(self, bag: Sequence[T], n: int) -> list[T]:
        """`n` different items of `bag`, in the order drawn; `bag` is not changed. 0 <= n <= len(bag)."""

    def below(self, n: int) -> int:
        """A number from 0 to n-1. n >= 1."""


class LuckMismatch(Exception):
    """The recorded outcomes do not fit the questions asked; the caller names the version."""


class Rolling:
    """Luck while deciding: outcome k depends on (key, k) alone, k counted over the whole match.

    So trying again gives the same luck, and neither a draw offer nor a refused move can change
    it. `outcomes` holds what has been rolled so far, as it is stored.
    """

    def __init__(self, key: bytes, ordinal: int) -> None:
        self.outcomes: list[LuckOutcome] = []
        self._key = key
        self._ordinal = ordinal

    def shuffle(self, items: Sequence[T]) -> list[T]:
        picks = self._picks(len(items), len(items))
        self.outcomes.append(picks)
        return [items[i] for i in picks]

    def draw(self, bag: Sequence[T], n: int) -> list[T]:
        if not 0 <= n <= len(bag):
            raise ValueError(f"cannot draw {n} of {len(bag)}")
        picks = self._picks(len(bag), n)
        self.outcomes.append(picks)
        return [bag[i] for i in picks]

    def below(self, n: int) -> int:
        value = next(self._numbers((n,)))
        self.outcomes.append(value)
        return value

    def _picks(self, size: int, n: int) -> list[int]:
        # Fisher-Yates from the front: the first n places of a full shuffle.
        order = list(range(size))
        for place, jump in enumerate(self._numbers(size - place for place in range(n))):
            order[place], order[place + jump] = order[place + jump], order[place]
        return order[:n]

    def _numbers(self, limits: Iterable[int]) -> Iterator[int]:
        words = self._words(self._ordinal + len(self.outcomes))
        for limit in limits:
            # Rejection sampling: words past the last whole multiple of `limit` would favour small numbers.
            fair = _WORD - _WORD % limit
            yield next(word for word in words if word < fair) % limit

    def _words(self, ordinal: int) -> Iterator[int]:
        prefix = ordinal.to_bytes(8, "big")
        for block in count():
            digest = hmac.digest(self._key, prefix + block.to_bytes(4, "big"), "sha256")
            for at in range(0, 32, 4):
                yield int.from_bytes(digest[at : at + 4], "big")


class Recorded:
    """Luck while replaying: plays back `outcomes` in order.

    Raises `LuckMismatch` when an outcome does not fit the question. `spent` tells whether all
    outcomes were asked for, which a replay checks at the end of each event.
    """

    def __init__(self, outcomes: Sequence[LuckOutcome]) -> None:
        self._outcomes = outcomes
        self._next = 0

    @property
    def spent(self) -> bool:
        return self._next == len(self._outcomes)

    def shuffle(self, items: Sequence[T]) -> list[T]:
        return [items[i] for i in self._picks(len(items), len(items))]

    def draw(self, bag: Sequence[T], n: int) -> list[T]:
        return [bag[i] for i in self._picks(len(bag), n)]

    def below(self, n: int) -> int:
        value = self._outcome()
        if not isinstance(value, int) or not 0 <= value < n:
            raise LuckMismatch(f"{value!r} is no number below {n}")
        return value

    def _picks(self, size: int, n: int) -> list[int]:
        picks = self._outcome()
        if isinstance(picks, int) or len(picks) != n or len(set(picks)) != n:
            raise LuckMismatch(f"{picks!r} are not {n} different indices")
        if n and not 0 <= min(picks) <= max(picks) < size:
            raise LuckMismatch(f"{picks!r} are not indices below {size}")
        return picks

    def _outcome(self) -> LuckOutcome:
        if self.spent:
            raise LuckMismatch("more luck was asked for than was recorded")
        self._next += 1
        return self._outcomes[self._next - 1]


def luck_key(seed: bytes, match: str, nonces: Sequence[str]) -> bytes:
    """The key of a match's luck: HKDF-SHA-256 (RFC 5869) of the seed, bound to match and nonces.

    `seed`: 32 bytes. `nonces`: one text per seat, in seat order, empty where a player gave none.
    """
    pseudo_random = hmac.digest(b"waystation/luck/v1", seed, "sha256")
    info = b"".join(len(part).to_bytes(4, "big") + part for part in map(str.encode, (match, *nonces)))
    return hmac.digest(pseudo_random, info + b"\x01", "sha256")
