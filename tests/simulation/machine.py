"""Play, crash, redeliver, reorder, rebuild and race, in any order: the promises hold after every step."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from services.core.commands import AnswerDraw, AnyCommand, OfferDraw, Resign, SubmitMove
from services.core.events import Entry, text_of
from services.core.ids import MatchId
from services.core.replay import fold
from services.core.shown import show_match
from tests.e2e.checking import plain
from tests.rules.hosting import PLAYERS, SEED, TOY_LIBRARY, any_move, entries_of, events_in, reader, started
from tests.simulation.world import World

MATCHES = tuple(MatchId(f"m{number}") for number in range(3))
REQUESTS = tuple(f"r{number}" for number in range(6))  # few, so that ids come again, for other commands too

workers = st.integers(0, 1)
matches = st.sampled_from(MATCHES)
requests = st.sampled_from(REQUESTS)
seeds = st.integers(0, 1 << 30)


class Machine(RuleBasedStateMachine):
    """One world per run; Hypothesis prints the steps of the shortest run that breaks a promise.

    `runs`, `steps`: of all machines so far, those that Hypothesis repeats to shorten a failure included.
    """

    runs = 0
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        Machine.runs += 1
        self._steps = 0
        self.loop = asyncio.new_event_loop()
        self.world = World()
        self._looked: dict[tuple[str, MatchId], list[bytes]] = {}
        self._folds: dict[MatchId, Any] = {}

    def teardown(self) -> None:
        self.loop.close()

    def _run(self, step: Any) -> Any:
        return self.loop.run_until_complete(step)

    @initialize()
    def begin(self) -> None:
        for match in MATCHES:
            self._run(started(self.world.workers[0], match, at=1))

    @rule(worker=workers, match=matches, request=requests, seed=seeds, stale=st.integers(0, 1))
    def play(self, worker: int, match: MatchId, request: str, seed: int, stale: int) -> None:
        player, command = self._move(match, random.Random(seed), stale)
        self._run(self.world.asks(worker, match, player, command, request))

    @rule(worker=workers, match=matches, request=requests, seat=st.integers(0, 1), kind=st.integers(0, 3))
    def say(self, worker: int, match: MatchId, request: str, seat: int, kind: int) -> None:
        offer = self._fold(match).draw_offer
        version = offer.version if offer else 1
        words: tuple[AnyCommand, ...] = (
            OfferDraw(),
            AnswerDraw(offer=version, accept=False),
            AnswerDraw(offer=version, accept=True),
            Resign(),
        )
        self._run(self.world.asks(worker, match, PLAYERS[seat], words[kind], request))

    @rule(match=matches, request=requests, seed=seeds, same=st.booleans())
    def race(self, match: MatchId, request: str, seed: int, same: bool) -> None:
        """Both workers get a command at one version, at one time: one request twice, or two of them."""
        rng = random.Random(seed)
        first = self._move(match, rng, 0)
        second = first if same else self._move(match, rng, 0)
        ids = (request, request if same else f"{request}'")
        before = len(self._entries(match))

        async def both() -> list[int | None]:
            asked = [
                self.world.asks(worker, match, player, command, ids[worker])
                for worker, (player, command) in enumerate((first, second))
            ]
            return await asyncio.gather(*asked)

        self.world.store.is_contended = True
        self._run(both())
        self.world.store.is_contended = False
        assert len(self._entries(match)) <= before + 1, "two commands at one version were both stored"

    @rule(failures=st.lists(st.sampled_from(("before", "after", "")), max_size=3))
    def outage(self, failures: list[str]) -> None:
        self.world.store.failures = failures

    @rule(worker=workers)
    def crash(self, worker: int) -> None:
        self.world.crash(worker)

    @rule(worker=workers)
    def sweep(self, worker: int) -> None:
        self._run(self.world.sweep(worker))

    @rule(seed=seeds, share=st.sampled_from((0.3, 1.0)), again=st.booleans())
    def deliver(self, seed: int, share: float, again: bool) -> None:
        self._run(self.world.deliver(random.Random(seed), share, again))

    @rule()
    def rebuild(self) -> None:
        self._run(self.world.rebuild(MATCHES))

    @invariant()
    def versions_have_no_gap(self) -> None:
        Machine.steps += 1
        self._steps += 1
        for match in self._changed("versions"):
            versions = [entry.version for entry in self._entries(match)]
            assert versions == list(range(1, len(versions) + 1)), f"the versions are {versions}"

    @invariant()
    def no_request_is_stored_twice(self) -> None:
        for match in self._changed("requests"):
            events = events_in(self._entries(match))
            requests = Counter((event.by, event.type, event.request_id) for event in events[1:])
            assert max(requests.values(), default=1) == 1, "a request is stored twice"

    @invariant()
    def what_was_acknowledged_is_stored(self) -> None:
        streams = {match: self._entries(match) for match in MATCHES}
        for (match, _, _, request), (version, head) in self.world.told.items():
            entries = streams[match]
            assert version <= len(entries), f"version {version} was acknowledged, and is not stored"
            stored = entries[version - 1]
            assert text_of(stored.hash) == head, f"version {version} was acknowledged under another hash"
            assert request.encode() in stored.body, "another request stands in its place"

    @invariant()
    def every_worker_shows_the_fold(self) -> None:
        """Where something has happened, and of one match more: workers forget and fold again."""
        for match in {*self._changed("views"), MATCHES[self._steps % len(MATCHES)]}:
            folded = self._fold(match)
            for player in (None, *PLAYERS[:2]):
                true = plain(show_match(folded, folded.seat_of(player)))
                for shown in self._run(self.world.views(match, reader(player))):
                    assert shown.version == folded.version, "a worker shows another version than is stored"
                    assert true == msgspec.json.decode(shown.view), "a worker shows what is not the fold"

    @invariant()
    def read_models_know_a_beginning_of_the_stream(self) -> None:
        streams = {match: self._entries(match) for match in MATCHES}
        for summaries in self.world.shelf.kept.values():
            for match, summary in summaries.items():
                assert summary.play is not None
                version, known = summary.play.cursor.version, summary.play.cursor.hash
                entries = streams[match]
                assert version <= len(entries), f"read models know version {version}, which is not stored"
                stored = entries[version - 1].hash.hex()
                assert stored == known, f"read models know another version {version} than is stored"

    def _changed(self, invariant: str) -> list[MatchId]:
        """The matches whose streams are not what they were when this invariant was last looked at."""
        changed = []
        for match in MATCHES:
            now = [entry.hash for entry in self._entries(match)[-1:]]
            if self._looked.get((invariant, match)) != now:
                self._looked[invariant, match] = now
                changed.append(match)
        return changed

    def _move(self, match: MatchId, rng: random.Random, stale: int) -> tuple[Any, AnyCommand]:
        folded = self._fold(match)
        if not folded.to_act:
            return PLAYERS[0], Resign()
        seat = rng.choice(sorted(folded.to_act))
        version = max(1, folded.version - stale)
        return PLAYERS[seat], SubmitMove(move=any_move(folded, seat, rng), expected_version=version)

    def _fold(self, match: MatchId) -> Any:
        entries = self._entries(match)
        known = self._folds.get(match)
        if known is None or known.head != entries[-1].hash:
            known = self._folds[match] = fold(match, SEED, entries, TOY_LIBRARY.ruleset_for)
        return known

    def _entries(self, match: MatchId) -> Sequence[Entry]:
        """Without the loop: reading a store in memory waits for nothing."""
        try:
            entries_of(self.world.store, match).send(None)
        except StopIteration as done:
            return cast("Sequence[Entry]", done.value)
        raise AssertionError("the store waits")
