"""Matches of the toy title for the tests of the core: a seed, two players, and commands in a row."""

from itertools import count

from msgspec import Raw

from services.core.clock import Clock
from services.core.commands import AnyCommand, Issued, SubmitMove
from services.core.decide import Decision, decide
from services.core.events import Entry
from services.core.ids import MatchId, PlayerId
from services.core.match import Match
from services.core.match_events import Sitting
from services.core.ruleset import Ruleset
from services.core.start import start
from services.core.title import AnyTitle
from tests.toy.titles.high_card import VERSIONS as TOY

SEED = bytes(range(32))
MATCH = MatchId("m1")
ANN, BOB, CARA = PlayerId("ann"), PlayerId("bob"), PlayerId("cara")
PLAYERS = (ANN, BOB, CARA)
T0 = 1_800_000_000_000

TOY_RULES = Ruleset(TOY[1])


def ruleset_for(title: str, rules_version: int) -> Ruleset:
    assert (title, rules_version) == ("high_card", 1)
    return TOY_RULES


class Table:
    """A match with its stream, played by deciding: `entries` is what a store would hold."""

    def __init__(
        self,
        title: AnyTitle = TOY[1],
        seats: int = 2,
        options: bytes = b"{}",
        clock: Clock | None = None,
        seed: bytes = SEED,
    ) -> None:
        self.entries: list[Entry] = []
        sittings = tuple(Sitting(player, f"nonce of {player}") for player in PLAYERS[:seats])
        rules = Ruleset(title)
        self._took(
            start(MATCH, rules, seed, options=Raw(options), seats=sittings, private=False, clock=clock, at=T0)
        )

    @property
    def match(self) -> Match:
        return self.decision.match

    def _took(self, decision: Decision) -> None:
        self.decision = decision
        self.entries.append(decision.entry)

    def does(self, player: PlayerId | None, command: AnyCommand, at: int = T0, request_id: str = "") -> Match:
        """Decides and goes on with the result; fails when the request is a repetition."""
        decision = decide(self.match, command, Issued(player=player, at=at, request_id=request_id))
        assert isinstance(decision, Decision)
        self._took(decision)
        return decision.match

    def moves(self, turns: int = 10_000, at: int = T0) -> "Table":
        """Plays the first legal move until the end, or for `turns` moves."""
        for turn in count():
            if turn == turns or self.match.outcome:
                return self
            seat = min(self.match.to_act)
            title = self.match.ruleset.title
            move = next(iter(title.legal_moves(self.match.state, seat)))
            self.does(PLAYERS[seat], SubmitMove(move=self.match.ruleset.write(move)), at=at)
        raise AssertionError("unreachable")
