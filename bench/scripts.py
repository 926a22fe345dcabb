"""What will be played, known before the first move: nobody has to ask the server for legal moves.

The generator may read the store: with a match's seed and its first entry all luck is determined, so the
rules play the whole match here in advance.
"""

import asyncio
import random
from typing import NamedTuple

from cli.titles import ruleset_for
from services.core.commands import Issued, SubmitMove
from services.core.decide import Decision, decide
from services.core.ids import MatchId, PlayerId, match_stream
from services.core.replay import fold
from services.kit.store import EventStore

BEGIN_S_MAX = 20.0
_LOOK_EVERY_S = 0.02


class Turn(NamedTuple):
    """A move to come. `version`: the match's before it."""

    seat: int
    version: int
    move: bytes


async def script(store: EventStore, match: str, rng: random.Random, moves_max: int) -> list[Turn]:
    """The first `moves_max` moves of a random playout of `match`, which has begun or soon will."""
    id, stream = MatchId(match), match_stream(MatchId(match))
    async with asyncio.timeout(BEGIN_S_MAX):
        while not (entries := await store.read(stream)):  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(_LOOK_EVERY_S)
    seed = await store.seed(id)
    assert seed is not None, "a match that has begun has a seed"
    now = fold(id, seed, entries, ruleset_for)
    turns: list[Turn] = []
    while now.outcome is None and len(turns) < moves_max:
        seat = min(now.to_act)
        move = rng.choice(list(now.ruleset.title.legal_moves(now.state, seat)))
        raw = now.ruleset.write(move)
        turns.append(Turn(seat, now.version, bytes(raw)))
        command = SubmitMove(move=raw, expected_version=now.version)
        decision = decide(now, command, Issued(player=PlayerId(now.started.seats[seat].player), at=now.at))
        assert isinstance(decision, Decision), "a command without a request id repeats nothing"
        now = decision.match
    return turns
