"""What the gateway needs of others, who of them is there, and whether requests are welcome.

An outage meets all gateways alike. Known matches go on without a lobby, and without Redis clients are told
a typed 503 with Retry-After: both better than a Service without endpoints. So Kubernetes asks for
`/readyz?except=outages`, and whoever wants to know how things stand for `/readyz`.
"""

from typing import Literal

from msgspec import Struct

from services.core.errors import ServiceDown
from services.kit.directory import Directory

Status = Literal["ready", "degraded", "unavailable", "stopping"]
Presence = Literal["there", "away"]


class Standing(Struct, frozen=True):
    """How the gateway stands. `unavailable`: it cannot seat players or take moves. `degraded`: it can.

    `redis`: holds everything. `services`: lobby and projection (lists). `titles`: whether a worker plays
    them. `since_start`: whether all was well once.
    """

    status: Status
    redis: Presence
    services: dict[str, Presence]
    titles: dict[str, Presence]
    since_start: bool

    @property
    def is_ready(self) -> bool:
        return self.status in ("ready", "degraded")

    @property
    def is_ready_but_for_outages(self) -> bool:
        """Whether other gateways would do no better: it is not stopping, and has worked before."""
        return self.since_start and self.status != "stopping"


class Readiness:
    """Asked at any time; looks at what is known, and asks nobody."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._has_been_ready = False
        self.is_stopping = False

    def standing(self) -> Standing:
        redis = _presence(self._directory.is_current)
        services = {name: self._service(name) for name in ("lobby", "projection")}
        titles = {str(slug): _presence(info.available) for slug, info in self._directory.titles().items()}
        status: Status = "ready"
        if "away" in (*services.values(), *titles.values()):
            status = "degraded"
        if "away" in (redis, services["lobby"]):
            status = "unavailable"
        else:
            self._has_been_ready = True
        if self.is_stopping:
            status = "stopping"
        return Standing(status, redis, services, titles, self._has_been_ready)

    def _service(self, name: str) -> Presence:
        try:
            self._directory.service(name)
        except ServiceDown:
            return "away"
        return "there"


def _presence(is_there: bool) -> Presence:
    return "there" if is_there else "away"
