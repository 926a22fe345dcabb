"""The estimate that bounds the cache, against what Python has really allocated."""

import gc
import random
import tracemalloc

import pytest

from deploy.local.system import shipped_titles
from services.core.commands import Issued, SubmitMove
from services.core.decide import decide
from services.core.ids import MatchId
from services.core.match import Match
from services.core.match_events import Sitting
from services.core.start import start
from services.rules.library import Library, load
from services.rules.weight import weighed
from tests.rules.hosting import PLAYERS, SEED, any_move

pytestmark = pytest.mark.slow


def played(library: Library, number: int, moves: int) -> Match:
    """A match after at most that many random moves."""
    rng = random.Random(number)
    options, seats, _ = library.checked(b"{}", 0)
    ruleset = library.ruleset(library.newest)
    sitting = tuple(Sitting(player, "") for player in PLAYERS[:seats])
    match = start(
        MatchId(f"m{number:023d}"),
        ruleset,
        SEED,
        options=options,
        seats=sitting,
        private=False,
        clock=None,
        at=1,
    ).match
    for turn in range(moves):
        if not match.to_act:
            break
        seat = rng.choice(sorted(match.to_act))
        command = SubmitMove(move=any_move(match, seat, rng), expected_version=match.version)
        issued = Issued(player=PLAYERS[seat], at=1, request_id=f"{number}-{turn}-{'x' * 20}")
        match = decide(match, command, issued).match
    return match


@pytest.mark.parametrize("slug", shipped_titles())
@pytest.mark.parametrize("moves", [0, 40])
def test_a_match_weighs_about_what_it_takes(slug, moves):
    library = load(slug)
    for number in range(-8, 0):  # what a title computes once for all matches
        played(library, number, moves)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        matches = [played(library, number, moves) for number in range(1, 13)]
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    told, took = sum(weighed(match, None).bytes for match in matches), after - before
    assert 0.6 < told / took < 2


def test_a_match_is_weighed_again_once_its_version_is_four_times_as_high():
    library = load("wayfare")
    young, grown, old = (played(library, 1, moves) for moves in (9, 30, 40))
    first = weighed(young, None)
    assert weighed(grown, first).own_at == first.own_at == young.version
    assert weighed(old, first).own_at == old.version
