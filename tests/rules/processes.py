"""Rules workers as processes of their own, and a client that plays through them without knowing any rules."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1.rules_pb2_grpc import RulesServiceStub

from services.kit.channels import Channels
from tests.rules.hosting import PLAYERS

ROOT = Path(__file__).resolve().parents[2]
START_S_MAX = 30.0


@dataclass
class WorkerProcess:
    """`python -m services.rules` with its output in a file."""

    title: str
    redis_url: str
    nats_url: str
    log: Path
    child: subprocess.Popen[bytes] | None = None
    address: str = ""

    def start(self) -> "WorkerProcess":
        environment = {
            **os.environ,
            "TITLE": self.title,
            "REDIS_URL": self.redis_url,
            "NATS_URL": self.nats_url,
            "LOG_LEVEL": "DEBUG",
        }
        with self.log.open("wb") as log:
            self.child = subprocess.Popen(
                [sys.executable, "-m", "services.rules"],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
            )
        give_up = time.monotonic() + START_S_MAX
        while not self.address:
            assert self.child.poll() is None, self.log.read_text()
            assert time.monotonic() < give_up, self.log.read_text()
            time.sleep(0.02)
            self.address = next(
                (line["address"] for line in self.lines() if line["event"] == "service_started"), ""
            )
        return self

    def lines(self) -> list[dict[str, Any]]:
        """What it logged so far."""
        written = self.log.read_bytes().splitlines(keepends=True)
        return [json.loads(line) for line in written if line.startswith(b"{") and line.endswith(b"}\n")]

    def kill(self) -> None:
        assert self.child is not None
        self.child.kill()
        self.child.wait()

    def asked_to_stop(self) -> None:
        assert self.child is not None
        self.child.send_signal(signal.SIGTERM)

    async def exit_code(self, within_s: float = 10.0) -> int:
        assert self.child is not None
        return await asyncio.to_thread(self.child.wait, within_s)


@dataclass
class Client:
    """Unary calls to one worker after another. `address` may be changed at any time."""

    address: str
    channels: Channels = field(default_factory=Channels)

    async def calls(self, method: str, request: Any) -> Any:
        """Raises the worker's DomainError."""
        stub = self.channels.stub(RulesServiceStub, self.address)
        return await self.channels.call(getattr(stub, method), request, 10.0)

    async def starts(self, match: str, seats: int, options: bytes = b"") -> int:
        taken = [pb.Seat(player=player, nonce=f"nonce of {player}") for player in PLAYERS[:seats]]
        request = pb.StartMatchRequest(match=match, seats=taken, options=options)
        return (await self.calls("StartMatch", request)).version

    async def views(self, match: str, player: str = "", version: int | None = None) -> dict[str, Any]:
        request = pb.GetMatchRequest(match=match, reader=pb.Reader(player=player), version=version)
        return json.loads((await self.calls("GetMatch", request)).view)

    async def moves(self, match: str, rng: random.Random) -> list[pb.SubmitCommandRequest]:
        """All legal moves of a seat that is to act, as commands in random order; none after the end."""
        view = await self.views(match)
        if view["status"] == "over":
            return []
        player = view["seats"][rng.choice(view["to_act"])]["player"]
        request = pb.ListLegalMovesRequest(match=match, reader=pb.Reader(player=player), page_size=1000)
        choices = json.loads((await self.calls("ListLegalMoves", request)).page)["choices"]
        return [
            pb.SubmitCommandRequest(
                match=match,
                player=player,
                request_id=f"v{view['version']}",
                expected_version=view["version"],
                submit_move=pb.SubmitMove(move=json.dumps(choice["move"]).encode()),
            )
            for choice in rng.sample(choices, len(choices))
        ]

    async def plays(self, match: str, rng: random.Random, moves: int = 100_000) -> dict[str, Any]:
        """At most that many random moves; the spectator's view after them."""
        for _ in range(moves):
            commands = await self.moves(match, rng)
            if not commands:
                break
            await self.calls("SubmitCommand", commands[0])
        return await self.views(match)
