"""A match as a client may follow it that reads the store and knows the rules: it chooses legal moves cheaply.

Asking a gateway for legal moves costs more than a move; here the title's own rules answer in this process.
"""

import random
import time
from typing import Any

from msgspec import Raw

from cli.titles import ruleset_for
from services.core.commands import Issued, SubmitMove
from services.core.decide import Decision, decide
from services.core.ids import MatchId, PlayerId, match_stream
from services.core.match import Match
from services.core.replay import extended, fold
from services.kit.store import EventStore

CHOICES_MAX = 64  # of a title's legal moves; those that come first are as good as any


class Shadow:
    """One match. Any method that reads may raise what the store raises, NoSuchMatch or HistoryCorrupt."""

    def __init__(self, store: EventStore, match: MatchId) -> None:
        self._store = store
        self._id = match
        self.match: Match | None = None

    @property
    def now(self) -> Match:
        assert self.match is not None, "read it first"
        return self.match

    async def read(self) -> Match:
        """The match as the stream has it now."""
        if self.match is not None:
            entries = await self._store.read(match_stream(self._id), after=self.match.version - 1)
            if entries and entries[0].hash == self.match.head:
                for entry in entries[1:]:
                    self.match = extended(self.match, entry).match
                return self.match
        entries = await self._store.read(match_stream(self._id))
        self.match = fold(self._id, await self._store.seed(self._id) or b"", entries, ruleset_for)
        return self.match

    def any_move(self, rng: random.Random) -> tuple[str, Raw]:
        """A player who is to act, and a legal move."""
        seat = rng.choice(sorted(self.now.to_act))
        moves: list[Any] = []
        for move in self.now.ruleset.title.legal_moves(self.now.state, seat):
            moves.append(move)
            if len(moves) == CHOICES_MAX:
                break
        return self.now.started.seats[seat].player, self.now.ruleset.write(rng.choice(moves))

    def play(self, player: str, move: Raw, version: int) -> bool:
        """Goes on by a move that was accepted as `version`, without reading; False when it cannot be."""
        issued = Issued(player=PlayerId(player), at=time.time_ns() // 1_000_000)
        if version != self.now.version + 1:
            return False
        decision = decide(self.now, SubmitMove(move=move), issued)
        assert isinstance(decision, Decision)
        self.match = decision.match
        return True
