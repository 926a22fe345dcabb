"""How busy a worker is: what decides whether its title needs another one.

CPU alone does not tell on a crowded node, where a worker that never rests gets half a core. So this counts
the seconds in which the thread of the event loop ran or waited for a core, as the kernel keeps them; where
it keeps none, the CPU seconds of the process. Reading costs nothing until somebody scrapes.
"""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import REGISTRY
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector


class BusyWorkers(Collector):
    """The workers of this process by title: one in a service, several in tests."""

    def __init__(self) -> None:
        self._threads: dict[str, int] = {}

    def watch(self, title: str) -> None:
        """Counts the calling thread as the one that serves `title`."""
        self._threads[title] = threading.get_native_id()

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily(
            "worker_busy_seconds",
            "Seconds in which a worker's event loop worked or had to wait",
            labels=["title"],
        )
        for title, thread in self._threads.items():
            family.add_metric([title], busy_s(thread))
        yield family


def busy_s(thread: int) -> float:
    """Seconds since the start of the thread with this native id."""
    try:
        ran_ns, waited_ns, _ = Path(f"/proc/self/task/{thread}/schedstat").read_text().split()
    except OSError:
        return time.process_time()
    return (int(ran_ns) + int(waited_ns)) / 1e9


BUSY = BusyWorkers()
REGISTRY.register(BUSY)
