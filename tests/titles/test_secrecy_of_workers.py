"""What leaves a rules worker for one viewer is the same for two matches that look the same to that viewer.

Both are real streams; each is served by a worker of its own, at the same moment of a stopped clock.
"""

import asyncio
from itertools import chain
from random import Random

import pytest

from services.rules import asked, ledger
from tests.titles.secrecy import ACCEPTED, answer, attempts, leaks_between
from tests.titles.secrecy_cases import one_case_a_title
from tests.titles.secrecy_leaks import IN_WORKER
from tests.titles.secrecy_lines import T0, twin_lines
from tests.titles.secrecy_worker import common_move, served

CASES = one_case_a_title()
HIDING = [case for case in CASES if case.twins.HIDES]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.title.slug)


@pytest.fixture(autouse=True)
def _stopped_clock(monkeypatch):
    for module in (asked, ledger):
        monkeypatch.setattr(module, "now_ms", lambda: T0 + 60_000)


async def workers(case, viewer, seed):
    """Two workers, and moves that the viewer may not make in either match."""
    rng = Random(seed)
    # Few changes of luck leave a move that both matches allow next, many leave little that is the same.
    one, other = twin_lines(case, viewer, rng, plies=rng.randrange(2, 21), tries=12 if seed % 2 else 100)
    legal = [
        move
        for decision in one.decisions
        for seat in decision.match.to_act
        for move in case.title.legal_moves(decision.match.state, seat)
    ]
    moves = attempts(case, legal, rng, 30)
    refused = [move for move in moves if answer(one.match, viewer, move) != ACCEPTED]
    return await served(case, one), await served(case, other), refused


async def leaks_of_workers(case, viewer, seed=1):
    """What `viewer` is told differently by two workers."""
    one, other, refused = await workers(case, viewer, seed)
    found = leaks_between(await one.told(viewer), await other.told(viewer))
    for move in refused:
        found += leaks_between(await one.answer(viewer, bytes(move)), await other.answer(viewer, bytes(move)))
    played = common_move(await one.match(), await other.match(), Random(seed))
    if played is None:
        return found
    heard = await one.plays(played, viewer), await other.plays(played, viewer)
    known = [case.twins.known((await each.match()).state, viewer) for each in (one, other)]
    if known[0] == known[1]:
        found += leaks_between(*(each.views for each in heard))
    if not (await one.match()).outcome:  # the last event reveals seed and luck
        found += leaks_between(*(each.events for each in heard))
    return found


@each_case
def test_a_viewer_gets_the_same_from_workers_of_matches_that_differ_in_what_is_hidden(case):
    for viewer in case.viewers:
        for seed in (1, 2, 3):
            assert asyncio.run(leaks_of_workers(case, viewer, seed)) == []


@pytest.mark.parametrize(
    ("case", "leak"),
    [(case, leak) for case in HIDING for leak in IN_WORKER if leak.shows_in(case)],
    ids=lambda value: value.name if hasattr(value, "leaky") else value.title.slug,
)
def test_what_a_worker_would_give_away_is_found_out(case, leak):
    with leak.applied():
        assert any(
            chain.from_iterable(
                asyncio.run(leaks_of_workers(case, viewer, seed))
                for viewer in case.viewers
                for seed in range(6)
            )
        )
