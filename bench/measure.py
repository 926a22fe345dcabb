"""What processes cost, as /proc counts it: CPU seconds and resident memory; and what Redis holds."""

import os
from collections.abc import Mapping
from typing import NamedTuple

import redis

from deploy.local.system import System

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Cost(NamedTuple):
    """`cpu_s`: user and system time of all threads. `rss_mb`: resident memory."""

    cpu_s: float
    rss_mb: float


def cost(pid: int) -> Cost:
    """Of one process up to now."""
    return Cost(_cpu_s(pid), _rss_mb(pid))


def _cpu_s(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S  # utime, stime


def _rss_mb(pid: int) -> float:
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * _PAGE / 1e6


def processes(system: System) -> dict[str, int]:
    """Process ids of a running system by name; "rules-make_way-1" is "rules-make_way-1"."""
    found = {name: service.pid for name, service in system.services.items()}
    for name, server in (("valkey", system.valkey), ("nats", system.nats)):
        if server is not None and server.pid is not None:
            found[name] = server.pid
    return found


def costs(pids: Mapping[str, int]) -> dict[str, Cost]:
    return {name: cost(pid) for name, pid in pids.items()}


def redis_bytes(store: redis.Redis) -> int:
    """Memory that Redis has in use, with everything."""
    return int(store.info("memory")["used_memory"])


def spent(before: Mapping[str, Cost], after: Mapping[str, Cost]) -> dict[str, float]:
    """CPU seconds by process, between two moments."""
    return {name: after[name].cpu_s - before[name].cpu_s for name in after}
