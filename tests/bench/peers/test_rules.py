"""The peers' game is Make Way!: their rules in Node judge every move as the title does."""

import random
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from bench.peers.installed import SCRIPTS
from bench.playouts import Dice
from services.titles.make_way import rules
from services.titles.make_way.moves import Move, Options
from services.titles.make_way.notation import every_move
from services.titles.make_way.scoring import totals
from services.titles.make_way.state import Counts, State

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")

REPLAY = Path(__file__).with_name("replay.js")


class Judged(msgspec.Struct, frozen=True):
    """A position as the peers' rules see it."""

    scores: tuple[int, int]
    legal: list[Move]
    accepted: list[Move]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_peers_rules_allow_and_count_what_the_title_does(seed: int) -> None:
    states, moves = _playout(seed)
    every = list(every_move())
    found = _replayed({"deck": _deck(states[0]), "moves": moves, "every": every})
    assert [position.scores for position in found] == [totals(state.boards) for state in states]
    for state, position in zip(states, found, strict=True):
        legal = set(rules.legal_moves(state, state.turn))
        assert set(position.legal) == legal
        assert set(position.accepted) == legal


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.*js")), ids=lambda script: script.name)
def test_every_script_of_the_peers_can_be_read(script: Path) -> None:
    assert subprocess.run(("node", "--check", script), check=False).returncode == 0


def _playout(seed: int) -> tuple[list[State], list[Move]]:
    """Every position of a random match, and the moves between them."""
    rng = random.Random(seed)
    dice = Dice(rng)
    states, moves = [rules.setup(Options(start=0), dice)], list[Move]()
    while legal := rules.legal_moves(states[-1], states[-1].turn):
        moves.append(rng.choice(legal))
        states.append(rules.apply(states[-1], states[-1].turn, moves[-1], dice))
    return states, moves


def _deck(state: State) -> list[int]:
    """The whole deck, as a first position tells it."""
    return [*_cards(state.hands[0]), *_cards(state.hands[1]), *state.deck]


def _cards(counts: Counts) -> list[int]:
    return [card for card, count in enumerate(counts) for _ in range(count)]


def _replayed(match: object) -> list[Judged]:
    asked = ("node", REPLAY)
    ran = subprocess.run(asked, input=msgspec.json.encode(match), capture_output=True, check=True)
    return msgspec.json.decode(ran.stdout, type=list[Judged])
