"""Three ways to a match: HTTP, WebSocket, and gRPC to a chosen worker. All repeat what nobody answered.

Each takes a `Told` to its fate: ok or refused once an answer says so, unknown when patience ends.
"""

import asyncio
import contextlib
import json
import random
import time
from typing import Any, NamedTuple

import aiohttp
import msgspec
from msgspec import Raw
from waystation.rules.v1 import rules_pb2 as pb
from waystation.rules.v1.rules_pb2_grpc import RulesServiceStub

from services.core.errors import DomainError
from services.core.ids import stream_match
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.statuses import is_retryable
from tests.faults.history import History, Told

PATIENCE_S = 60.0
ATTEMPT_S_MAX = 4.0
PAUSE_S = 0.2
LATER = (429, 503, 504)  # and every broken connection: repeat with the same key

UNANSWERED = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError, OSError)


class Mover(NamedTuple):
    """A player with a token."""

    player: str
    token: str


class Order(NamedTuple):
    """A move, and the version it is made at."""

    move: Raw
    version: int

    @property
    def body(self) -> dict[str, Any]:
        return {"move": self.move, "expected_version": self.version}


def settle(told: Told, history: History, status: int, answer: Any) -> None:
    """Writes an answer that is final into the history."""
    if status < 300:
        told.accept(answer["version"], answer["head"])
        history.saw(answer["match"], answer["version"], told.player, answer["view"])
    else:
        told.refuse(str(answer.get("reason")))
        if status >= 500:
            history.wrong.append(f"{told.via}: {status} {answer}")


class HttpCaller:
    """POST to one gateway after another."""

    def __init__(self, client: aiohttp.ClientSession, urls: list[str], history: History) -> None:
        self._client = client
        self._urls = urls
        self._history = history

    async def submit(self, told: Told, mover: Mover, order: Order) -> None:
        path = f"/v1/matches/{stream_match(told.stream)}/moves"
        status, answer = await self.post(path, mover, told, order.body)
        if status:
            settle(told, self._history, status, answer)

    async def post(self, path: str, mover: Mover, told: Told, body: Any) -> tuple[int, Any]:
        """The first final answer, asked for under the key of `told`; (0, None) when there is none in time."""
        text = msgspec.json.encode(body)
        headers = {"Authorization": f"Bearer {mover.token}", "Idempotency-Key": told.request_id}
        give_up = time.monotonic() + PATIENCE_S
        first = random.randrange(len(self._urls))
        while time.monotonic() < give_up:
            told.attempts += 1
            pause_s = PAUSE_S
            url = self._urls[(first + told.attempts) % len(self._urls)] + path
            try:
                async with self._client.post(
                    url, data=text, headers=headers, timeout=aiohttp.ClientTimeout(ATTEMPT_S_MAX)
                ) as response:
                    status, raw = response.status, await response.read()
                    pause_s = float(response.headers.get("Retry-After", PAUSE_S))
                if status not in LATER:
                    return status, msgspec.json.decode(raw)
                why = str(status)
            except UNANSWERED as error:
                why = type(error).__name__
            except msgspec.DecodeError:
                why = "no JSON"
                self._history.wrong.append(f"{path}: {status} with a body that is no JSON: {raw[:80]!r}")
            after_s = time.monotonic() - told.invoked
            told.trail.append(f"{after_s:.1f} s {url.removesuffix(path)} {why}")
            await asyncio.sleep(pause_s)
        return 0, None


class LiveCaller:
    """A WebSocket that follows one match with one player's eyes; moves may go over it. Connects again."""

    def __init__(
        self, client: aiohttp.ClientSession, urls: list[str], history: History, match: str, mover: Mover
    ) -> None:
        self._client = client
        self._urls = urls
        self._history = history
        self._match = match
        self._mover = mover
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._connected = asyncio.Event()
        self._version = 0
        self._eyes = mover.player
        self._following = asyncio.create_task(self._follow())

    def look_as_stranger(self) -> "LiveCaller":
        self._eyes = ""
        return self

    async def close(self) -> None:
        self._following.cancel()
        await asyncio.wait([self._following])

    async def submit(self, told: Told, mover: Mover, order: Order) -> None:
        frame = {
            "type": "move",
            "id": told.request_id,
            "request_id": told.request_id,
            "move": order.move,
            "expected_version": order.version,
        }
        text = msgspec.json.encode(frame).decode()
        give_up = time.monotonic() + PATIENCE_S
        while (left_s := give_up - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._connected.wait(), left_s)
            told.attempts += self._connected.is_set()
            answer = await self._ask(told.request_id, text)
            if answer is not None and answer.get("status", 200) not in LATER:
                settle(told, self._history, answer.get("status", 200), answer)
                return
            await asyncio.sleep(float(answer.get("retry_after_s", PAUSE_S)) if answer else PAUSE_S)

    async def _ask(self, id_: str, text: str) -> Any:
        """The receipt or problem; None when none came in time."""
        if self._socket is None or self._socket.closed:
            return None
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        try:
            await self._socket.send_str(text)
            return await asyncio.wait_for(answer, ATTEMPT_S_MAX)
        except UNANSWERED:
            return None
        finally:
            self._answers.pop(id_, None)

    async def _follow(self) -> None:
        while True:
            url = random.choice(self._urls).replace("http://", "ws://", 1)
            headers = {"Authorization": f"Bearer {self._mover.token}"}
            try:
                async with asyncio.timeout(ATTEMPT_S_MAX):
                    socket = await self._client.ws_connect(
                        f"{url}/v1/matches/{self._match}/live", headers=headers, max_msg_size=1 << 22
                    )
                async with socket:
                    await self._listen(socket)
            except (*UNANSWERED, aiohttp.WSServerHandshakeError):
                pass
            self._break_off()
            await asyncio.sleep(PAUSE_S)

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._version = socket, 0
        self._connected.set()
        async for message in socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                self._heard(json.loads(message.data))

    def _break_off(self) -> None:
        self._socket = None
        self._connected.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(None)

    def _heard(self, frame: Any) -> None:
        if frame["type"] in ("receipt", "problem"):
            answer = self._answers.get(frame.get("id", ""))
            if answer is not None and not answer.done():
                answer.set_result(frame)
        elif frame["type"] in ("view", "event"):
            self._saw(frame)

    def _saw(self, frame: Any) -> None:
        version = frame["version"]
        if frame["type"] == "event" and version != self._version + 1:
            self._history.wrong.append(f"{self._match}: a socket went from {self._version} to {version}")
        self._version = version
        if frame.get("view") is not None:
            self._history.saw(self._match, version, self._eyes, frame["view"])


class WorkerCaller:
    """Unary calls to the workers of a title, each to the one asked for: no affinity keeps rivals apart."""

    def __init__(self, directory: Directory, channels: Channels, history: History, slug: str) -> None:
        self._directory = directory
        self._channels = channels
        self._history = history
        self._slug = slug

    async def submit(self, told: Told, mover: Mover, order: Order, worker: int = 0) -> None:
        request = pb.SubmitCommandRequest(
            match=stream_match(told.stream),
            player=mover.player,
            request_id=told.request_id,
            expected_version=order.version,
            submit_move=pb.SubmitMove(move=bytes(order.move)),
        )
        give_up = time.monotonic() + PATIENCE_S
        while time.monotonic() < give_up:
            told.attempts += 1
            addresses = sorted(member.address for member in self._directory.workers(self._slug))
            if addresses and await self._ask(
                addresses[(worker + told.attempts) % len(addresses)], request, told
            ):
                return
            await asyncio.sleep(PAUSE_S)

    async def _ask(self, address: str, request: pb.SubmitCommandRequest, told: Told) -> bool:
        """Whether there is a final answer."""
        stub = self._channels.stub(RulesServiceStub, address)
        try:
            accepted = await self._channels.call(stub.SubmitCommand, request, ATTEMPT_S_MAX)
        except DomainError as error:
            if is_retryable(error):
                return False
            status = 500 if error.reason in ("BUG", "HISTORY_CORRUPT") else 409
            settle(told, self._history, status, {"reason": error.reason, "detail": str(error)})
        else:
            told.worker = address
            settle(told, self._history, 200, msgspec.json.decode(accepted.receipt))
        return True
