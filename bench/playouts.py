"""Random play of each title on one core: how fast the rules are, without any server.

`python -m bench.playouts [title ...]`
"""

import argparse
import random
import resource
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
from rich.console import Console
from rich.table import Table

from bench import stopping
from bench.cases import CASES, Case
from services.core.title import AnyTitle

T = TypeVar("T")
SECONDS = 4.0
COLUMNS = """\
columns, for each title, number of seats and set of options:
  plies/s       moves a second of whole random matches, with all legal moves listed before each
  matches/s     such matches a second
  plies         moves of a match, the mean
  apply us      microseconds for the position after a move, the mean over one match
  view us       ... for what seat 1 sees of a position, as JSON
  canonical us  ... for the bytes of a position that are hashed
  bytes         of the largest position of that match, so written
  MB            the most memory that this process has held so far
"""


class Dice:
    """Unrecorded luck: `random.Random` with the methods of a Chance."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def shuffle(self, items: Sequence[T]) -> list[T]:
        return self._rng.sample(items, len(items))

    def draw(self, bag: Sequence[T], n: int) -> list[T]:
        return self._rng.sample(bag, n)

    def below(self, n: int) -> int:
        return self._rng.randrange(n)


class Speed(NamedTuple):
    """Seconds are of CPU; costs are means in microseconds."""

    case: str
    plies_s: float
    matches_s: float
    plies_per_match: float
    apply_us: float
    view_us: float
    canonical_us: float
    state_bytes: int
    peak_mb: float


def measure(case: Case, seconds: float = SECONDS, seed: int = 1) -> Speed:
    """Plays whole random matches for about `seconds` of CPU, then prices the parts of one more."""
    rng = random.Random(seed)
    title = case.title
    options = msgspec.json.decode(case.options, type=title.Options)
    started = time.process_time()
    plies = matches = 0
    while time.process_time() - started < seconds:
        plies += playout(title, options, case.seats, rng)
        matches += 1
    spent = time.process_time() - started
    positions = _positions(title, options, case.seats, rng)
    return Speed(
        case=case.name,
        plies_s=plies / spent,
        matches_s=matches / spent,
        plies_per_match=plies / matches,
        apply_us=_apply_us(title, positions, rng),
        view_us=_mean_us(lambda state: msgspec.json.encode(title.view(state, 0)), positions),
        canonical_us=_mean_us(title.canonical, positions),
        state_bytes=max(len(title.canonical(state)) for state in positions),
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def playout(title: AnyTitle, options: Any, seats: int, rng: random.Random) -> int:
    """One random match with all legal moves listed at every ply; the number of plies."""
    dice = Dice(rng)
    state = title.setup(options, seats, dice)
    plies = 0
    while to_act := title.to_act(state):
        seat = min(to_act)
        moves = title.legal_moves(state, seat)
        listed = moves if isinstance(moves, list | tuple) else list(moves)
        state = title.apply(state, seat, rng.choice(listed), dice)
        plies += 1
    return plies


def _positions(title: AnyTitle, options: Any, seats: int, rng: random.Random) -> list[Any]:
    dice = Dice(rng)
    state = title.setup(options, seats, dice)
    positions = []
    while to_act := title.to_act(state):
        positions.append(state)
        seat = min(to_act)
        state = title.apply(state, seat, rng.choice(list(title.legal_moves(state, seat))), dice)
    return positions


def _apply_us(title: AnyTitle, positions: Sequence[Any], rng: random.Random) -> float:
    dice = Dice(rng)
    chosen = []
    for state in positions:
        seat = min(title.to_act(state))
        chosen.append((state, seat, rng.choice(list(title.legal_moves(state, seat)))))
    return _mean_us(lambda ply: title.apply(ply[0], ply[1], ply[2], dice), chosen)


def _mean_us(work: Any, inputs: Sequence[Any], rounds: int = 5) -> float:
    """The best of several rounds: what is left is the work, not the neighbours."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for each in inputs:
            work(each)
        best = min(best, time.process_time() - started)
    return best / len(inputs) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="make bench-rules",
        description=__doc__,
        epilog=COLUMNS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("titles", nargs="*", metavar="title", help="only these; without any, all")
    asked = parser.parse_args()
    known = sorted({case.title.slug for case in CASES})
    if unknown := sorted({*asked.titles} - {*known}):
        parser.error(f"no title {', '.join(unknown)}, only {', '.join(known)}")
    stopping.tidies_up(parser.prog)
    _show([case for case in CASES if not asked.titles or case.title.slug in asked.titles])


def _show(cases: Sequence[Case]) -> None:
    table = Table(title="Random play, pure Python, one core (CPU time)")
    for column in (
        "title",
        "plies/s",
        "matches/s",
        "plies",
        "apply us",
        "view us",
        "canonical us",
        "bytes",
        "MB",
    ):
        table.add_column(column, justify="left" if column == "title" else "right")
    for number, case in enumerate(cases, 1):
        print(f"{number} of {len(cases)}: {case.name}", file=sys.stderr)
        speed = measure(case)
        table.add_row(
            speed.case,
            f"{speed.plies_s:,.0f}",
            f"{speed.matches_s:,.1f}",
            f"{speed.plies_per_match:.0f}",
            f"{speed.apply_us:.1f}",
            f"{speed.view_us:.1f}",
            f"{speed.canonical_us:.1f}",
            str(speed.state_bytes),
            f"{speed.peak_mb:.0f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
