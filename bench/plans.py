"""What is measured of the whole system: load shapes, by title, transport and fsync mode."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from deploy.local.system import Fsync

Transport = Literal["ws", "http"]

WARM = 4  # moves of each match before any is timed
LONG, SPAN = 260, 60  # moves that a long match has at least, and how many of them are timed
EVER = 10_000  # moves that no match has


class Plan(Struct, frozen=True, kw_only=True):
    """One measurement. `rate`: moves/s of a Poisson process; 0 is a closed loop: as fast as answers come.

    `matches`: how many are open. `seconds`: the longest that moves are sent for. `workers`: of the title.
    `first`: only long matches are played, and timed from this move of theirs on, SPAN moves each; 0: any
    match, once it is warm. `idle`: how many more lie open, whose rest is measured before; None: it is not.
    """

    title: str
    transport: Transport = "ws"
    matches: int = 100
    rate: int = 0
    fsync: Fsync = "everysec"
    seconds: float = 5.0
    workers: int = 1
    gateways: int = 1
    first: int = 0
    idle: int | None = None

    @property
    def shape(self) -> str:
        return f"open {self.rate}/s" if self.rate else "closed"

    @property
    def name(self) -> str:
        scale = f" {self.workers}w {self.gateways}g" if (self.workers, self.gateways) != (1, 1) else ""
        first = f" from {self.first}" if self.first else ""
        idle = "" if self.idle is None else f" idle {self.idle}"
        return f"{self.title} {self.transport} {self.shape} {self.matches}{scale}{first}{idle}"

    @property
    def before(self) -> int:
        """How many moves of a match are played before any is timed."""
        return self.first - 1 if self.first else WARM

    def takes(self, moves: int) -> bool:
        """Whether a match of so many moves is played."""
        return moves >= (LONG if self.first else WARM)

    @property
    def moves_max(self) -> int:
        """How many moves of a match have to be known."""
        return LONG if self.first else EVER

    @property
    def until(self) -> int:
        """The last move of a match that is played."""
        return self.before + SPAN if self.first else EVER


# Those whose figures are kept; each more would make a full run half as long again.
TITLES = ("make_way", "wayfare")
_WAYS: tuple[Transport, ...] = ("ws", "http")
_OPEN_MATCHES = 200
_FIRSTS = (1, 200)
# The only title whose random play is often long: seven matches in ten for two pass LONG moves.
_LONG_TITLE = "a_way"
IDLE = (0, 5_000)


def quick(seconds: float) -> list[Plan]:
    """Some minutes: what a change of the path of a move is judged by."""
    closed = [Plan(title=title, transport=way, seconds=seconds) for title in TITLES for way in ("ws", "http")]
    opened = [Plan(title="make_way", matches=_OPEN_MATCHES, rate=500, seconds=seconds)]
    return [*closed, *opened, Plan(title="make_way", fsync="always", seconds=seconds)]


def full(seconds: float) -> list[Plan]:
    """Two titles, every shape, transport and fsync mode."""
    shapes = [(10, 0), (100, 0), (500, 0), (_OPEN_MATCHES, 200), (_OPEN_MATCHES, 500)]
    everysec = [
        Plan(title=title, transport=way, matches=matches, rate=rate, seconds=seconds)
        for title in TITLES
        for way in _WAYS
        for matches, rate in shapes
    ]
    return everysec + [replace(plan, fsync="always") for plan in everysec]


def scaling(seconds: float) -> list[Plan]:
    """One figure that should stay: more workers, more gateways, more open matches, longer matches."""
    return [*_sizes(seconds), *_numbers(seconds), *_lengths(seconds)]


def idle(seconds: float, numbers: Sequence[int] = IDLE) -> list[Plan]:
    """Matches on which nothing happens, and what a move of others costs beside them."""
    return [Plan(title="make_way", idle=number, seconds=seconds) for number in numbers]


def _sizes(seconds: float) -> list[Plan]:
    """More processes for the same load, then for a load that grows with their number."""
    one = Plan(title="make_way", seconds=seconds)
    workers = [replace(one, workers=number) for number in (2, 4)]
    gateways = [replace(one, gateways=number) for number in (2, 3)]
    same = [*workers, *gateways]
    grown = [replace(plan, matches=one.matches * max(plan.workers, plan.gateways)) for plan in same]
    return [one, *same, *grown]


def _numbers(seconds: float) -> list[Plan]:
    return [
        Plan(title="make_way", transport="http", matches=matches, rate=300, seconds=seconds)
        for matches in (100, 1_000, 10_000)
    ]


def _lengths(seconds: float) -> list[Plan]:
    return [Plan(title=_LONG_TITLE, first=first, seconds=seconds) for first in _FIRSTS]


def chosen(plans: list[Plan], word: str) -> list[Plan]:
    """The plans whose name holds `word`, or whose fsync mode it is."""
    return [plan for plan in plans if word in plan.name or word == plan.fsync]
