"""Which rules worker answers for a match, what happens when it does not, and who is to push what happens."""

import asyncio
import contextlib
from collections.abc import Collection
from functools import partial
from time import monotonic

import structlog
from waystation.rules.v1 import rules_pb2, rules_pb2_grpc

from gateway.exchange import Exchange, StreamBroken
from gateway.places import Place
from gateway.pushes import Pushes
from services.core.errors import Deadline, ServiceDown, TitleDown
from services.core.ids import Slug
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.statuses import error_of
from services.kit.tasks import ended

_log = structlog.get_logger()

CALL_S_MAX = 5.0
# A worker whose stream broke is left alone for as long as the directory may still name a dead one.
REST_S = 6.0
# As often as the directory looks who is there: workers that come are to push what they store.
REACH_S = 1.0


class Workers:
    """One exchange per live worker. Any worker can serve any match of its title: affinity is for caches."""

    def __init__(self, directory: Directory, channels: Channels, pushes: Pushes) -> None:
        self._directory = directory
        self._channels = channels
        self._pushes = pushes
        self._reaching: asyncio.Task[None] | None = None
        self._exchanges: dict[str, Exchange] = {}
        self._resting_until: dict[str, float] = {}

    def start(self) -> None:
        """Keeps connected to all workers of every title that somebody follows a match of."""
        self._reaching = asyncio.create_task(self._keep_reaching())

    async def ask(self, place: Place, call: rules_pb2.Call, limit_s: float = CALL_S_MAX) -> rules_pb2.Answer:
        """The answer of a worker of the match's title. Raises the refusal if it is one.

        `call` must be a read or carry a request id: after a broken stream it is sent once more, to another
        worker if there is one; a worker that lacks the match's rules version is passed over for the next,
        until all have been asked. Raises ServiceDown (outcome unknown), TitleDown, Deadline, Overloaded.
        """
        deadline = monotonic() + limit_s
        tried: list[str] = []
        has_broken = False
        while True:
            address = self._choose(place, tried)
            tried.append(address)
            try:
                return await self._ask_at(place.title, address, call, max(0.001, deadline - monotonic()))
            except TitleDown:
                if all(worker.address in tried for worker in self._directory.workers(place.title)):
                    raise
            except StreamBroken:
                if has_broken:
                    raise ServiceDown(
                        f"rules-{place.title}", "the workers went away; repeat the request"
                    ) from None
                has_broken = True

    async def close(self) -> None:
        await ended(self._reaching)
        await asyncio.gather(*(exchange.close() for exchange in self._exchanges.values()))

    async def _keep_reaching(self) -> None:
        while True:
            self._pushes.has_new_title.clear()
            try:
                for title in self._pushes.titles:
                    self._reach(title)
            except Exception:  # what every push depends on goes on
                _log.exception("reaching_failed")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REACH_S):
                    await self._pushes.has_new_title.wait()

    def _reach(self, title: Slug) -> None:
        """A worker that drains keeps the stream that it has, and is given no new one."""
        for worker in self._directory.workers(title):
            if not worker.draining:
                self._exchange(title, worker.address)

    async def _ask_at(
        self, title: Slug, address: str, call: rules_pb2.Call, limit_s: float
    ) -> rules_pb2.Answer:
        exchange = self._exchange(title, address)
        asked_at = monotonic()
        try:
            return _accepted(await exchange.ask(call, limit_s))
        except (StreamBroken, Deadline):
            # A worker that has said nothing at all since then hangs, or its host is gone.
            if exchange.is_closed or exchange.heard_at < asked_at:
                self._resting_until[address] = monotonic() + REST_S
            raise

    def _choose(self, place: Place, tried: Collection[str]) -> str:
        """A worker's address; one that rests only if there is no other, and one that was tried even later."""
        if resting := self._resting():
            with contextlib.suppress(TitleDown):
                return self._directory.pick(place.title, place.match, avoid={*tried, *resting})
        if tried:
            with contextlib.suppress(TitleDown):
                return self._directory.pick(place.title, place.match, avoid=tried)
        return self._directory.pick(place.title, place.match)

    def _resting(self) -> Collection[str]:
        now = monotonic()
        for exchange in self._exchanges.values():
            if exchange.is_draining:
                self._resting_until[exchange.address] = now + REST_S
        if self._resting_until:
            self._resting_until = {address: at for address, at in self._resting_until.items() if at > now}
        return self._resting_until.keys()

    def _exchange(self, title: Slug, address: str) -> Exchange:
        exchange = self._exchanges.get(address)
        if exchange is None or exchange.is_closed:
            self._drop_closed()
            stub = self._channels.stub(rules_pb2_grpc.RulesServiceStub, address)
            on_standing = partial(self._pushes.join, title)
            exchange = self._exchanges[address] = Exchange(stub, address, self._pushes.heed, on_standing)
        return exchange

    def _drop_closed(self) -> None:
        self._exchanges = {a: exchange for a, exchange in self._exchanges.items() if not exchange.is_closed}


def _accepted(answer: rules_pb2.Answer) -> rules_pb2.Answer:
    if answer.WhichOneof("outcome") != "refusal":
        return answer
    refusal = answer.refusal
    raise error_of(refusal.reason, refusal.detail, refusal.facts)
