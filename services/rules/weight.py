"""How much memory a folded match takes: exact enough to bound a cache by it, cheap enough for every move."""

import gc
import sys
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Raw, Struct

from services.core.match import Match

# A request answered: its key, its Answered with a fingerprint, its place in the dictionary. Measured.
ANSWERED_BYTES = 220
MATCH_BYTES = 500  # the struct itself, ids, hashes, keys
REWEIGHED_AT = 4  # to weigh a match costs as much as half a move
_SHARED = (type, ModuleType, FunctionType)


class Weighed(Struct, frozen=True):
    """A match and its weight. `own`: bytes of its position and seats, as found at version `own_at`."""

    match: Match
    own: int
    own_at: int

    @property
    def bytes(self) -> int:
        return MATCH_BYTES + self.own + ANSWERED_BYTES * len(self.match.answered)


def weighed(match: Match, before: Weighed | None) -> Weighed:
    """`before`: an earlier version; its weight holds good until the version is REWEIGHED_AT times as high."""
    if before is not None and before.own_at <= match.version < REWEIGHED_AT * before.own_at:
        return Weighed(match, before.own, before.own_at)
    return Weighed(match, deep_size((match.started, match.state, match.undo)), match.version)


def deep_size(value: Any) -> int:
    """Bytes of `value` and all that it refers to, each counted once; classes and functions are shared."""
    seen: set[int] = set()
    to_see, total = [value], 0
    while to_see:
        each = to_see.pop()
        if id(each) in seen or isinstance(each, _SHARED):
            continue
        seen.add(id(each))
        if isinstance(each, Raw):  # which says nothing of the sort about itself
            total += sys.getsizeof(bytes(each))
        else:
            total += sys.getsizeof(each)
            to_see += gc.get_referents(each)
    return total
