"""What goes wrong, at random moments: processes die, stop and come back, servers too, connections break.

Every fault heals itself: it ends with everything running again. The seed decides which and when. What
should not happen even so (a process that ends by itself, a start that fails) is a finding.
"""

import asyncio
import random
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from deploy.local.servers import EmbeddedServer, ServerFailed
from deploy.local.system import Fsync, Service, System
from tests.faults import blackout
from tests.faults.deliveries import deliver_again
from tests.faults.proxy import Proxy
from tests.faults.tails import FLUSH_S_MAX, Cut

TERMINATE_S_MAX = 15.0
LOOK_S = 0.5
SETTLE_S = 2.0  # in which a process that was started suffers nothing else
AWAY_S = (2.0, 8.0)  # NATS
OUTAGE_S = 30.0  # of NATS, once in a run of some length
OUTAGE = "NATS away for 30 s"
LONG_S = 45.0
PAUSE_S = (0.3, 8.0)  # up to longer than an announcement lives

# How a service ends that cannot reach the store when it starts: whoever runs it starts it again.
STORE_AWAY = "does not answer"


@dataclass
class Injected:
    """One fault. Times are monotonic seconds.

    `harm`: requests cut off, events delivered, bytes lost; None where nothing is counted.
    """

    fault: str
    target: str
    at: float
    healed: float = 0.0
    harm: int | None = None


class Nemesis:
    """Deals `faults`, names in FAULTS, like cards: each comes before any comes again.

    No target suffers two faults at a time. `cuts`: when the store died. `again`: how often a service was
    started again that had come up while the store was away.
    """

    def __init__(
        self, system: System, proxies: list[Proxy], rng: random.Random, faults: Sequence[str], every_s: float
    ) -> None:
        self.system = system
        self.proxies = proxies
        self.rng = rng
        self.injected: list[Injected] = []
        self.cuts: list[Cut] = []
        self.findings: list[str] = []
        self.again = 0
        self._faults = faults
        self._every_s = every_s
        self._deck: list[str] = []
        self._busy: set[str] = set()
        # Servers die with the thread that started them, and starting one takes its time: this thread stays.
        self._servers = ThreadPoolExecutor(1)

    async def rage(self, seconds: float) -> None:
        """Injects faults for that long, and returns when all are healed."""
        end = time.monotonic() + seconds
        watching = asyncio.create_task(self._watch())
        try:
            async with asyncio.TaskGroup() as faults:
                if seconds >= LONG_S and OUTAGE in self._faults:
                    faults.create_task(self._once(OUTAGE, self.rng.uniform(0.1, 0.4) * seconds))
                while (pause_s := self.rng.expovariate(1 / self._every_s)) + time.monotonic() < end:
                    await asyncio.sleep(pause_s)
                    if dealt := self._deal():
                        faults.create_task(self._inject(*dealt))
            await asyncio.sleep(SETTLE_S)
        finally:
            watching.cancel()
            calm(self.system)

    @asynccontextmanager
    async def alone(self, fault: str, target: str) -> AsyncIterator[Injected]:
        """Counts what the caller does to `target` as a fault."""
        self._busy.add(target)
        injected = Injected(fault, target, time.monotonic())
        try:
            yield injected
        finally:
            injected.healed = time.monotonic()
            self._busy.discard(target)
        self.injected.append(injected)

    def _deal(self) -> tuple[str, str] | None:
        """The next fault that has a target to spare, and the target."""
        common = [fault for fault in self._faults if fault != OUTAGE]
        if len(self._deck) < len(common):
            self._deck = self.rng.sample(common, len(common)) + self._deck
        for number in reversed(range(len(self._deck))):
            if free := self._free(self._deck[number]):
                return self._deck.pop(number), self.rng.choice(free)
        return None

    def _free(self, fault: str) -> list[str]:
        kind, _ = FAULTS[fault]
        targets = [name for name in self.system.services if name.startswith(kind)] or [kind]
        return [name for name in targets if name not in self._busy]

    async def _once(self, fault: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        while not self._free(fault):  # noqa: ASYNC110 - other faults set no event
            await asyncio.sleep(LOOK_S)
        await self._inject(fault, self._free(fault)[0])

    async def _inject(self, fault: str, target: str) -> None:
        _, act = FAULTS[fault]
        self._busy.add(target)
        injected = Injected(fault, target, time.monotonic())
        try:
            injected.harm = await act(self, target)
        except ServerFailed as error:
            self.findings.append(f"{fault}: {error}")
            return
        finally:
            injected.healed = time.monotonic()
            self._busy.discard(target)
        if injected.harm != 0:
            self.injected.append(injected)

    async def _watch(self) -> None:
        """Starts services again that ended by themselves; only one that met no store may do so."""
        while True:
            await asyncio.sleep(LOOK_S)
            for name, service in self.system.services.items():
                if name in self._busy or service.exit_code is None:
                    continue
                if STORE_AWAY in service.ending:
                    self.again += 1
                else:
                    self.findings.append(f"{name} {service.ending}")
                service.start()

    # Services.

    async def kill(self, name: str) -> None:
        """SIGKILL, and a new process at once."""
        service = self.system.services[name]
        service.kill()
        service.start()
        await asyncio.sleep(SETTLE_S)

    async def pause(self, name: str) -> None:
        """SIGSTOP: to others it is neither alive nor dead."""
        service = self.system.services[name]
        _signal(service, signal.SIGSTOP)
        try:
            await asyncio.sleep(self.rng.uniform(*PAUSE_S))
        finally:
            _signal(service, signal.SIGCONT)

    async def terminate(self, name: str) -> None:
        """SIGTERM, as a rollout does, and a new process when the old one has left."""
        service = self.system.services[name]
        _signal(service, signal.SIGTERM)
        give_up = time.monotonic() + TERMINATE_S_MAX
        while service.exit_code is None and time.monotonic() < give_up:  # noqa: ASYNC110 - a process sets no event
            await asyncio.sleep(0.02)
        if service.exit_code is None:
            self.findings.append(f"{name} had not left {TERMINATE_S_MAX:.0f} s after SIGTERM")
            service.kill()
        service.start()
        await asyncio.sleep(SETTLE_S)

    # Servers.

    async def restart_nats(self, _: str) -> None:
        assert self.system.nats is not None
        await self._in_thread(self.system.nats.restart)

    async def nats_away(self, _: str) -> None:
        await self._without_nats(self.rng.uniform(*AWAY_S))

    async def nats_outage(self, _: str) -> None:
        await self._without_nats(OUTAGE_S)

    async def _without_nats(self, seconds: float) -> None:
        nats = self.system.nats
        assert nats is not None
        await self._in_thread(nats.kill)
        try:
            await asyncio.sleep(seconds)
        finally:
            await self._in_thread(nats.start)

    async def kill_valkey(self, _: str) -> None:
        valkey = self.system.valkey
        assert valkey is not None
        self._cut(time.monotonic() - FLUSH_S_MAX)
        valkey.kill()
        await self._in_thread(valkey.start)

    async def cut_power(self, _: str) -> int:
        """Kills Valkey and takes from it what it wrote during the last second; the bytes lost."""
        valkey = self.system.valkey
        assert valkey is not None
        since, before = time.monotonic(), blackout.mark(valkey)
        await asyncio.sleep(self.rng.uniform(0.1, 1.0))
        self._cut(since)
        valkey.kill()
        lost = blackout.forget_since(before, valkey)
        await self._in_thread(valkey.start)
        return lost

    def _cut(self, since: float) -> None:
        if self.system.fsync == "everysec":
            self.cuts.append(Cut(since, time.monotonic()))

    async def pause_valkey(self, _: str) -> None:
        await self._paused(self.system.valkey)

    async def pause_nats(self, _: str) -> None:
        await self._paused(self.system.nats)

    async def _paused(self, server: EmbeddedServer | None) -> None:
        assert server is not None
        server.pause()
        try:
            await asyncio.sleep(self.rng.uniform(0.2, 3.0))
        finally:
            server.resume()

    async def _in_thread(self, act: Callable[[], object]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._servers, act)

    # Connections and deliveries.

    async def reset(self, _: str) -> int:
        """How many connections were reset in the middle of a request."""
        share = self.rng.choice((0.1, 0.5, 1.0))
        return sum(proxy.reset_some(self.rng, share) for proxy in self.proxies)

    async def redeliver(self, _: str) -> int:
        """How many events were delivered again."""
        return await deliver_again(self.system.nats_url, self.rng)


def calm(system: System) -> None:
    """Lets every process run that was stopped; whoever ends a run calls it, however it ends."""
    for service in system.services.values():
        if service.exit_code is None:
            _signal(service, signal.SIGCONT)
    for server in (system.valkey, system.nats):
        if server is not None and server.pid:
            server.resume()


def _signal(service: Service, number: signal.Signals) -> None:
    if service.process is not None:
        with suppress(ProcessLookupError):
            service.process.send_signal(number)


Act = Callable[[Nemesis, str], Awaitable[int | None]]

POWER_CUT = "Valkey lost its last second"

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
    "NATS away for up to 8 s": ("nats", Nemesis.nats_away),
    OUTAGE: ("nats", Nemesis.nats_outage),
    "NATS stopped and continued": ("nats", Nemesis.pause_nats),
    "Valkey killed": ("valkey", Nemesis.kill_valkey),
    POWER_CUT: ("valkey", Nemesis.cut_power),
    "Valkey stopped and continued": ("valkey", Nemesis.pause_valkey),
    "connections reset in mid-request": ("connections", Nemesis.reset),
    "events delivered again, late": ("deliveries", Nemesis.redeliver),
}


def faults_with(fsync: Fsync) -> tuple[str, ...]:
    """All there are; nothing is ever lost that was flushed before it was acknowledged."""
    return tuple(fault for fault in FAULTS if fault != POWER_CUT or fsync == "everysec")
