"""What goes wrong, at random moments: processes die, stop and come back, servers too, connections break.

Every fault heals itself: it ends with everything running again. The seed decides which and when.
"""

import asyncio
import random
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from deploy.local.servers import EmbeddedServer, ServerFailed
from deploy.local.system import Service, System
from tests.faults.deliveries import deliver_again
from tests.faults.proxy import Proxy

TERMINATE_S_MAX = 15.0
START_TRIES = 3
DOWN_S = (3.0, 30.0)  # NATS, when it stays away for a while
PAUSE_S = (0.3, 8.0)  # up to longer than an announcement lives


@dataclass
class Injected:
    """One fault. Times are monotonic seconds."""

    fault: str
    target: str
    at: float
    healed: float = 0.0


class Nemesis:
    """`faults`: names in FAULTS, all as likely as each other. No target suffers two faults at a time."""

    def __init__(
        self, system: System, proxies: list[Proxy], rng: random.Random, faults: Sequence[str], every_s: float
    ) -> None:
        self.system = system
        self.proxies = proxies
        self.rng = rng
        self.injected: list[Injected] = []
        self._faults = faults
        self._every_s = every_s
        self._busy: set[str] = set()
        # Servers die with the thread that started them, and starting one takes its time: this thread stays.
        self._servers = ThreadPoolExecutor(1)

    async def rage(self, seconds: float) -> None:
        """Injects faults for that long, and returns when all are healed."""
        end = time.monotonic() + seconds
        async with asyncio.TaskGroup() as faults:
            while (pause_s := self.rng.expovariate(1 / self._every_s)) + time.monotonic() < end:
                await asyncio.sleep(pause_s)
                faults.create_task(self._inject(self.rng.choice(self._faults)))

    async def _inject(self, fault: str) -> None:
        kind, act = FAULTS[fault]
        free = [name for name in self._targets(kind) if name not in self._busy]
        if not free:
            return
        target = self.rng.choice(free)
        self._busy.add(target)
        injected = Injected(fault, target, time.monotonic())
        self.injected.append(injected)
        try:
            await act(self, target)
        finally:
            injected.healed = time.monotonic()
            self._busy.discard(target)

    def _targets(self, kind: str) -> list[str]:
        return [name for name in self.system.services if name.startswith(kind)] or [kind]

    # Services.

    async def kill(self, name: str) -> None:
        """SIGKILL, and a new process at once."""
        service = self.system.services[name]
        service.kill()
        service.start()
        await self._started(service)

    async def pause(self, name: str) -> None:
        """SIGSTOP: to others it is neither alive nor dead."""
        service = self.system.services[name]
        assert service.process is not None
        service.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(self.rng.uniform(*PAUSE_S))
        service.process.send_signal(signal.SIGCONT)

    async def terminate(self, name: str) -> None:
        """SIGTERM, as a rollout does, and a new process when the old one has left."""
        service = self.system.services[name]
        assert service.process is not None
        service.process.send_signal(signal.SIGTERM)
        give_up = time.monotonic() + TERMINATE_S_MAX
        while service.exit_code is None and time.monotonic() < give_up:  # noqa: ASYNC110 - a process sets no event
            await asyncio.sleep(0.02)
        if service.exit_code is None:
            service.kill()
        service.start()
        await self._started(service)

    async def _started(self, service: Service) -> None:
        """Gives the process the time that a start takes; whether it serves is what clients find out."""
        await asyncio.sleep(2.0)
        if service.exit_code == -signal.SIGSEGV:
            service.start()

    # Servers.

    async def restart_nats(self, _: str) -> None:
        assert self.system.nats is not None
        await self._in_thread(self.system.nats.restart)

    async def nats_away(self, _: str) -> None:
        nats = self.system.nats
        assert nats is not None
        await self._in_thread(nats.kill)
        await asyncio.sleep(self.rng.uniform(*DOWN_S))
        await self._in_thread(nats.start)

    async def kill_valkey(self, _: str) -> None:
        valkey = self.system.valkey
        assert valkey is not None
        valkey.kill()
        await self._in_thread(valkey.start)

    async def pause_valkey(self, _: str) -> None:
        await self._paused(self.system.valkey)

    async def pause_nats(self, _: str) -> None:
        await self._paused(self.system.nats)

    async def _paused(self, server: EmbeddedServer | None) -> None:
        assert server is not None
        server.pause()
        await asyncio.sleep(self.rng.uniform(0.2, 3.0))
        server.resume()

    async def _in_thread(self, act: Callable[[], object]) -> None:
        """A fork of this process, full of gRPC's threads, now and then dies before it becomes the server."""
        for tries_left in reversed(range(START_TRIES)):
            try:
                await asyncio.get_running_loop().run_in_executor(self._servers, act)
                return
            except ServerFailed:
                if not tries_left:
                    raise

    # Connections and deliveries.

    async def reset(self, _: str) -> None:
        share = self.rng.choice((0.1, 0.5, 1.0))
        for proxy in self.proxies:
            proxy.reset_some(self.rng, share)

    async def redeliver(self, _: str) -> None:
        await deliver_again(self.system.nats_url, self.rng)


Act = Callable[[Nemesis, str], Awaitable[None]]

# By name: what it hits (services by the beginning of their name), and how.
FAULTS: Mapping[str, tuple[str, Act]] = {
    "gateway killed": ("gateway", Nemesis.kill),
    "gateway stopped and continued": ("gateway", Nemesis.pause),
    "gateway restarted": ("gateway", Nemesis.terminate),
    "rules worker killed": ("rules", Nemesis.kill),
    "rules worker stopped and continued": ("rules", Nemesis.pause),
    "rules worker restarted": ("rules", Nemesis.terminate),
    "lobby killed": ("lobby", Nemesis.kill),
    "lobby stopped and continued": ("lobby", Nemesis.pause),
    "lobby restarted": ("lobby", Nemesis.terminate),
    "projection killed": ("projection", Nemesis.kill),
    "projection stopped and continued": ("projection", Nemesis.pause),
    "projection restarted": ("projection", Nemesis.terminate),
    "NATS restarted": ("nats", Nemesis.restart_nats),
    "NATS away for up to 30 s": ("nats", Nemesis.nats_away),
    "NATS stopped and continued": ("nats", Nemesis.pause_nats),
    "Valkey killed": ("valkey", Nemesis.kill_valkey),
    "Valkey stopped and continued": ("valkey", Nemesis.pause_valkey),
    "connections reset": ("connections", Nemesis.reset),
    "events delivered again, late": ("deliveries", Nemesis.redeliver),
}
