"""Matches decided with chosen luck, so that two of them can share all that one viewer sees.

`Line` is a match with its stream. `twin_lines` takes a random match and looks for other luck under which
the very same moves are played and the viewer may know the very same at every version, while what is
hidden differs. Both are real streams with seeds of their own, which any worker can serve.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

from msgspec import Raw

from services.core import decide as deciding
from services.core import start as starting
from services.core.chance import LuckMismatch, LuckOutcome, Recorded, Rolling
from services.core.commands import Issued, SubmitMove
from services.core.decide import Decision, decide
from services.core.errors import MoveIllegal
from services.core.ids import MatchId, PlayerId
from services.core.match import Match
from services.core.match_events import Sitting
from services.core.start import start
from tests.titles.secrecy_cases import Case, Viewer

MATCH = MatchId("m1")
PLAYERS = tuple(PlayerId(name) for name in ("ann", "bob", "cara", "dan", "eve", "finn"))
T0 = 1_800_000_000_000
PATIENCE = 10

# What luck answered to the questions of one event, as values: cards, not indices.
Answers = list[list[Any] | int]


class Played(NamedTuple):
    """One move of a match."""

    seat: int
    move: Any


class Answering:
    """Luck that gives the answers it is told; raises LuckMismatch where the question does not allow one."""

    def __init__(self, answers: Answers) -> None:
        self.outcomes: list[LuckOutcome] = []
        self._left = iter(answers)

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        return self._picked(items, len(items))

    def draw(self, bag: Sequence[Any], n: int) -> list[Any]:
        return self._picked(bag, n)

    def below(self, n: int) -> int:
        value = next(self._left)
        assert isinstance(value, int)
        self.outcomes.append(value)
        return value

    def _picked(self, items: Sequence[Any], n: int) -> list[Any]:
        wanted = next(self._left)
        assert isinstance(wanted, list)
        places: dict[Any, list[int]] = {}
        for place, item in enumerate(items):
            places.setdefault(item, []).append(place)
        try:
            picks = [places[item].pop() for item in wanted]
        except (KeyError, IndexError):
            raise LuckMismatch(f"{wanted} are not among {items}") from None
        assert len(picks) == n
        self.outcomes.append(picks)
        return wanted


class Listening(Rolling):
    """Luck as it is rolled in a match, remembered as values too."""

    def __init__(self, key: bytes, ordinal: int) -> None:
        super().__init__(key, ordinal)
        self.answers: Answers = []

    def shuffle(self, items: Sequence[Any]) -> list[Any]:
        return self._told(super().shuffle(items))

    def draw(self, bag: Sequence[Any], n: int) -> list[Any]:
        return self._told(super().draw(bag, n))

    def below(self, n: int) -> int:
        return self._told(super().below(n))

    def _told(self, answer: Any) -> Any:
        self.answers.append(answer)
        return answer


class Score(NamedTuple):
    """A match as a list of moves and answers of luck. `luck`: the set-up's, then each move's."""

    played: list[Played]
    luck: list[Answers]


class Line:
    """A match played by deciding. `decisions`: one per version; `matches`: the match at each."""

    def __init__(self, case: Case, rng: Random) -> None:
        self.case = case
        self.seed = rng.randbytes(32)
        self._sittings = tuple(Sitting(player, rng.randbytes(4).hex()) for player in PLAYERS[: case.seats])
        self._request_ids = rng.randbytes(4).hex()
        self.decisions: list[Decision] = []

    def begins(self, outcomes: Sequence[LuckOutcome]) -> None:
        with _loaded(outcomes):
            self.decisions.append(
                start(
                    MATCH,
                    self.case.rules,
                    self.seed,
                    options=Raw(self.case.options),
                    seats=self._sittings,
                    private=False,
                    clock=None,
                    at=T0,
                )
            )

    def goes_on(self, played: Played, outcomes: Sequence[LuckOutcome], viewer: Viewer) -> None:
        """The next version. Only the viewer's own request ids are the same in every line."""
        version = len(self.decisions) + 1
        whose = "mine" if played.seat == viewer else self._request_ids
        issued = Issued(player=PLAYERS[played.seat], at=T0 + version, request_id=f"{whose}-{version}")
        with _loaded(outcomes):
            command = SubmitMove(move=self.case.rules.write(played.move))
            decision = decide(self.match, command, issued)
        assert isinstance(decision, Decision)
        self.decisions.append(decision)

    @property
    def match(self) -> Match:
        return self.decisions[-1].match


class Loaded(Recorded):
    """Luck fixed beforehand, where a match would roll it."""

    def __init__(self, outcomes: Sequence[LuckOutcome]) -> None:
        super().__init__(outcomes)
        self.outcomes = list(outcomes)


@contextmanager
def _loaded(outcomes: Sequence[LuckOutcome]) -> Iterator[None]:
    def luck(key: bytes, ordinal: int) -> Loaded:
        return Loaded(outcomes)

    with patch.object(deciding, "Rolling", luck), patch.object(starting, "Rolling", luck):
        yield


def random_score(case: Case, rng: Random, plies: int) -> Score:
    """A random match of at most that many moves, not played to its end."""
    title, key = case.title, rng.randbytes(32)
    options = case.rules.read_options(case.options, case.seats)
    chance = Listening(key, 0)
    state = title.setup(options, case.seats, chance)
    score = Score([], [chance.answers])
    ordinal = len(chance.outcomes)
    while len(score.played) < plies:
        seat = rng.choice(sorted(title.to_act(state)))
        move = rng.choice(list(title.legal_moves(state, seat)))
        chance = Listening(key, ordinal)
        state = title.apply(state, seat, move, chance)
        if not title.to_act(state):
            break
        ordinal += len(chance.outcomes)
        score.played.append(Played(seat, move))
        score.luck.append(chance.answers)
    return score


def performed(case: Case, score: Score) -> Iterator[tuple[Any, list[LuckOutcome]]]:
    """Each position of a score with the luck that led there. Raises MoveIllegal and LuckMismatch."""
    title = case.title
    chance = Answering(score.luck[0])
    options = case.rules.read_options(case.options, case.seats)
    state = title.setup(options, case.seats, chance)
    yield state, chance.outcomes
    for played, answers in zip(score.played, score.luck[1:], strict=True):
        if played.seat not in title.to_act(state):
            raise LuckMismatch(f"seat {played.seat} is not to act")
        chance = Answering(answers)
        state = title.apply(state, played.seat, played.move, chance)
        yield state, chance.outcomes


def line_of(case: Case, score: Score, viewer: Viewer, rng: Random) -> Line:
    """The score as a match with its stream."""
    line = Line(case, rng)
    for version, (_, outcomes) in enumerate(performed(case, score), 1):
        if version == 1:
            line.begins(outcomes)
        else:
            line.goes_on(score.played[version - 2], outcomes, viewer)
    return line


def twin_lines(
    case: Case, viewer: Viewer, rng: Random, plies: int = 24, tries: int = 150
) -> tuple[Line, Line]:
    """Two matches that are the same to `viewer`, version by version, as far as luck can be changed."""
    score = random_score(case, rng, plies)
    other = other_luck(case, score, viewer, rng, tries)
    return line_of(case, score, viewer, rng), line_of(case, other, viewer, rng)


def other_luck(case: Case, score: Score, viewer: Viewer, rng: Random, tries: int) -> Score:
    """The same moves under luck with up to `tries` changes, none of which `viewer` may know of.

    Goes on for longer where changes are hard to find, until there is one.
    """
    if not any(isinstance(answer, list) for answers in score.luck for answer in answers):
        return score
    known = case.twins.known
    wanted = [known(state, viewer) for state, _ in performed(case, score)]
    other = score
    for tried in range(PATIENCE * tries):
        if tried >= tries and other is not score:
            break
        changed = other._replace(luck=_stirred(other.luck, rng))
        if _looks(case, changed, wanted, lambda state: known(state, viewer)):
            other = changed
    return other


def _looks(case: Case, score: Score, wanted: list[Any], known: Callable[[Any], Any]) -> bool:
    try:
        return all(
            known(state) == seen for (state, _), seen in zip(performed(case, score), wanted, strict=True)
        )
    except (LuckMismatch, MoveIllegal):
        return False


def _stirred(luck: list[Answers], rng: Random) -> list[Answers]:
    """`luck` with two values of one event's shuffles and draws exchanged."""
    shuffled = [n for n, answers in enumerate(luck) if any(isinstance(answer, list) for answer in answers)]
    event = rng.choice((shuffled[0], rng.choice(shuffled)))  # most of what is hidden comes of the set-up
    answers: Answers = [answer if isinstance(answer, int) else [*answer] for answer in luck[event]]
    places = [
        (a, n) for a, answer in enumerate(answers) if isinstance(answer, list) for n in range(len(answer))
    ]
    (a, n), (b, m) = rng.sample(places, 2)
    one, other = answers[a], answers[b]
    assert isinstance(one, list)
    assert isinstance(other, list)
    one[n], other[m] = other[m], one[n]
    return [*luck[:event], answers, *luck[event + 1 :]]
