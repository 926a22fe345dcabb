"""What is measured of the whole system: load shapes, by title, transport and fsync mode."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from deploy.local.system import Fsync

Transport = Literal["ws", "http"]


class Plan(Struct, frozen=True, kw_only=True):
    """One measurement. `rate`: moves/s of a Poisson process; 0 is a closed loop: as fast as answers come.

    `matches`: how many are open. `seconds`: the longest that moves are sent for. `workers`: of the title.
    """

    title: str
    transport: Transport = "ws"
    matches: int = 100
    rate: int = 0
    fsync: Fsync = "everysec"
    seconds: float = 5.0
    workers: int = 1
    gateways: int = 1

    @property
    def shape(self) -> str:
        return f"open {self.rate}/s" if self.rate else "closed"

    @property
    def name(self) -> str:
        scale = f" {self.workers}w {self.gateways}g" if (self.workers, self.gateways) != (1, 1) else ""
        return f"{self.title} {self.transport} {self.shape} {self.matches}{scale}"


_TITLES = ("make_way", "wayfare")
_WAYS: tuple[Transport, ...] = ("ws", "http")
_OPEN_MATCHES = 200


def quick(seconds: float) -> list[Plan]:
    """Some minutes: what a change of the path of a move is judged by."""
    closed = [
        Plan(title=title, transport=way, seconds=seconds) for title in _TITLES for way in ("ws", "http")
    ]
    opened = [Plan(title="make_way", matches=_OPEN_MATCHES, rate=500, seconds=seconds)]
    return [*closed, *opened, Plan(title="make_way", fsync="always", seconds=seconds)]


def full(seconds: float) -> list[Plan]:
    """Every shape, title, transport and fsync mode."""
    shapes = [(10, 0), (100, 0), (500, 0), (_OPEN_MATCHES, 200), (_OPEN_MATCHES, 500)]
    everysec = [
        Plan(title=title, transport=way, matches=matches, rate=rate, seconds=seconds)
        for title in _TITLES
        for way in _WAYS
        for matches, rate in shapes
    ]
    return everysec + [replace(plan, fsync="always") for plan in everysec if plan.transport == "ws"]


def scaling(seconds: float) -> list[Plan]:
    """One figure that should stay: more workers, more gateways, more open matches."""
    sizes = [Plan(title="make_way", workers=workers, seconds=seconds) for workers in (1, 2, 4)]
    sizes += [Plan(title="make_way", gateways=gateways, seconds=seconds) for gateways in (2, 3)]
    numbers = [
        Plan(title="make_way", transport="http", matches=matches, rate=300, seconds=seconds)
        for matches in (100, 1_000, 10_000)
    ]
    return [*sizes, *numbers]


def chosen(plans: list[Plan], word: str) -> list[Plan]:
    """The plans whose name holds `word`, or whose fsync mode it is."""
    return [plan for plan in plans if word in plan.name or word == plan.fsync]
