"""Play, crash, redeliver, reorder, rebuild and race, in any order: the promises hold after every step."""

import asyncio
import logging
import os
import random
from collections import Counter
from typing import Any

import msgspec
import structlog
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from services.core.commands import AnswerDraw, AnyCommand, OfferDraw, Resign, SubmitMove
from services.core.ids import MatchId
from services.core.replay import fold
from services.core.shown import show_match
from tests.e2e.checking import plain
from tests.rules.hosting import PLAYERS, SEED, TOY_LIBRARY, any_move, entries_of, events_in, reader, started
from tests.simulation.world import World

MATCHES = tuple(MatchId(f"m{number}") for number in range(3))
REQUESTS = tuple(f"r{number}" for number in range(6))  # few, so that ids come again, for other commands too

# `make test-simulation` raises both.
RUNS = int(os.environ.get("SIMULATED_RUNS", "40"))
STEPS = int(os.environ.get("SIMULATED_STEPS", "50"))

workers = st.integers(0, 1)
matches = st.sampled_from(MATCHES)
requests = st.sampled_from(REQUESTS)
seeds = st.integers(0, 1 << 30)


class Machine(RuleBasedStateMachine):
    """One world per run; Hypothesis prints the steps of the shortest run that breaks a promise."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = World()

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
        assert len(self._entries(match)) <= before + 1

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
    def acknowledged_is_stored_once(self) -> None:
        for match in MATCHES:
            entries = self._entries(match)
            assert [entry.version for entry in entries] == list(range(1, len(entries) + 1))
            events = events_in(entries)
            requests = Counter((event.by, event.type, event.request_id) for event in events[1:])
            assert max(requests.values(), default=1) == 1
            for (told_match, _, _, request), (version, _) in self.world.told.items():
                if told_match == match:
                    assert events[version - 1].request_id == request

    @invariant()
    def every_worker_shows_the_fold(self) -> None:
        for match in MATCHES:
            folded = self._fold(match)
            for host in self.world.workers:
                for player in (None, *PLAYERS[:2]):
                    shown = self._run(host.reads.view(match, reader(player), None))
                    assert shown.version == folded.version
                    assert plain(show_match(folded, folded.seat_of(player))) == msgspec.json.decode(
                        shown.view
                    )

    @invariant()
    def read_models_know_a_beginning_of_the_stream(self) -> None:
        """What the read models know is a beginning of the stream, by its hash."""
        for summaries in self.world.shelf.kept.values():
            for match, summary in summaries.items():
                assert summary.play is not None
                cursor = summary.play.cursor
                assert self._entries(match)[cursor.version - 1].hash.hex() == cursor.hash

    def _move(self, match: MatchId, rng: random.Random, stale: int) -> tuple[Any, AnyCommand]:
        folded = self._fold(match)
        if not folded.to_act:
            return PLAYERS[0], Resign()
        seat = rng.choice(sorted(folded.to_act))
        version = max(1, folded.version - stale)
        return PLAYERS[seat], SubmitMove(move=any_move(folded, seat, rng), expected_version=version)

    def _fold(self, match: MatchId) -> Any:
        return fold(match, SEED, self._entries(match), TOY_LIBRARY.ruleset_for)

    def _entries(self, match: MatchId) -> Any:
        return self._run(entries_of(self.world.store, match))


def test_every_promise_holds_after_every_step() -> None:
    chosen = settings(
        max_examples=RUNS,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    # Every line that a worker logs would be kept for the report of a failure, by the million.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        run_state_machine_as_test(Machine, settings=chosen)
    finally:
        structlog.reset_defaults()
