"""The generator: a process that opens matches, plays them as a Plan says, and times every move.

Reads a Job as JSON from its first argument. Prints "ready" when all matches are open and warm, plays after a
line on its standard input, and prints a Played as JSON.

A move over WebSocket counts when its sender has the receipt and the other player's client a view of that
version or a later one. Over HTTP a move is one request: its receipt, with the view, is all that is awaited.
"""

import asyncio
import itertools
import os
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Mapping

import msgspec
import uvloop
from msgspec import Raw, Struct

from bench import tables
from bench.clients import Broken, HttpClient, WebSocket
from bench.cores import stay_on
from bench.plans import Plan
from bench.scripts import Turn, script
from services.kit.redis_store import RedisStore

OPENING_AT_ONCE = 16
OPENING_S_MAX = 900.0
ROUNDS_MAX = 20  # of looking for matches that are long enough
MOVE_S_MAX = 20.0
MOVES_PER_S_MAX = 1_000  # of a closed loop: how many moves are prepared for


class Job(Struct, frozen=True):
    """A Plan, where the system is, and the core for the generator."""

    plan: Plan
    host: str
    ports: list[int]
    redis_url: str
    core: int | None


class Played(Struct, frozen=True):
    """`latencies_ms`: of each move that counts, since it was due. `late`: found no match free."""

    seconds: float
    latencies_ms: list[float]
    late: int
    cpu_s: float


class _Frame(Struct):
    type: str
    version: int = 0
    view: Raw = Raw()


_read_frame = msgspec.json.Decoder(_Frame).decode


class Lines:
    """Connections for plain HTTP to one gateway, as a site's back end keeps them.

    There are as many as requests were ever under way at once; the last one used goes first.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._idle: list[HttpClient] = []

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Status and body of the answer."""
        client = self._idle.pop() if self._idle else await HttpClient.connect(self._host, self._port)
        answer = await client.ask("POST", path, body, headers)
        self._idle.append(client)
        return answer


class Board:
    """One match, how both players reach it, and what they will play."""

    def __init__(self, match: str, tokens: list[str], turns: list[Turn], lines: Lines | None) -> None:
        """`lines`: for moves over HTTP; without, `connect` makes a WebSocket for each player."""
        self.match = match
        self.turns = turns
        self.next = 0
        self._tokens = tokens
        self._seen = [0] * len(tokens)
        self._sockets: list[WebSocket] = []
        self._lines = lines
        self._version = 0
        self._is_acknowledged = False
        self._done: asyncio.Future[None] | None = None

    @property
    def is_played(self) -> bool:
        return self.next == len(self.turns)

    async def connect(self, job: Job, port: int) -> None:
        if self._lines is not None:
            return
        for seat, token in enumerate(self._tokens):
            path = f"/v1/matches/{self.match}/live"
            heed = self._heeding(seat)
            self._sockets.append(await WebSocket.connect(job.host, port, path, token, heed))
        async with asyncio.timeout(MOVE_S_MAX):
            while not all(self._seen):  # noqa: ASYNC110 - happens once, before anything is timed
                await asyncio.sleep(0.01)

    async def play(self) -> None:
        """The next turn, until it counts."""
        turn = self.turns[self.next]
        self.next += 1
        if self._lines is not None:
            await self._post(self._lines, turn)
        else:
            await self._send(turn)

    async def _post(self, lines: Lines, turn: Turn) -> None:
        body = b'{"expected_version":%d,"move":%b}' % (turn.version, turn.move)
        headers = {
            "Authorization": f"Bearer {self._tokens[turn.seat]}",
            "Idempotency-Key": f"move-{turn.version}",
        }
        status, answer = await lines.post(f"/v1/matches/{self.match}/moves", body, headers)
        if status != 200:
            raise Broken(f"a move was refused: {answer[:300]!r}")

    async def _send(self, turn: Turn) -> None:
        self._version = turn.version + 1
        self._is_acknowledged = False
        self._done = asyncio.get_running_loop().create_future()
        self._sockets[turn.seat].send(
            b'{"type":"move","id":"%d","request_id":"move-%d","expected_version":%d,"move":%b}'
            % (turn.version, turn.version, turn.version, turn.move)
        )
        await self._done

    def _heeding(self, seat: int) -> Callable[[bytes], None]:
        def heed(payload: bytes) -> None:
            frame = _read_frame(payload)
            if frame.type == "problem":
                raise Broken(f"a frame was refused: {payload[:300]!r}")
            if not bytes(frame.view):
                return
            self._seen[seat] = max(self._seen[seat], frame.version)
            self._is_acknowledged = self._is_acknowledged or frame.type == "receipt"
            is_seen = self._is_acknowledged and min(self._seen) >= self._version
            if is_seen and self._done is not None and not self._done.done():
                self._done.set_result(None)

        return heed


class Generator:
    """Plays one Job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._rng = random.Random(1)
        self._latencies: list[float] = []
        self._late = 0
        self._boards: list[Board] = []
        self._ports = itertools.cycle(job.ports)  # a match's players come through one gateway
        is_http = job.plan.transport == "http"
        self._lines = {port: Lines(job.host, port) for port in job.ports} if is_http else {}

    async def open(self) -> None:
        """Opens and warms up the matches: some for each that is played at once, one after the other."""
        store = await RedisStore.open(self._job.redis_url)
        async with asyncio.timeout(OPENING_S_MAX):
            await self._open(store, 1)
            await self._open(store, self._job.plan.matches * self._lives(self._boards[0]))
        await store.close()

    async def _open(self, store: RedisStore, number: int) -> None:
        """Opens until there are `number`. What the plan does not take stays open, and nobody plays it."""
        gate = asyncio.Semaphore(OPENING_AT_ONCE)

        async def opened() -> Board | None:
            async with gate:
                return await self._opened(store)

        for _ in range(ROUNDS_MAX):
            found = await asyncio.gather(*[opened() for _ in range(number - len(self._boards))])
            self._boards += [board for board in found if board is not None]
            if len(self._boards) == number:
                return
        raise Broken(f"only {len(self._boards)} of {number} matches are long enough")

    async def play(self) -> Played:
        started, cpu = time.perf_counter(), time.process_time()
        async with asyncio.timeout(self._job.plan.seconds + MOVE_S_MAX):
            await (self._open_loop() if self._job.plan.rate else self._closed_loop())
        return Played(time.perf_counter() - started, self._latencies, self._late, time.process_time() - cpu)

    def _lives(self, like: Board) -> int:
        """How many matches each player at once goes through, so that moves last as long as the plan."""
        plan, turns = self._job.plan, len(like.turns) - like.next
        if plan.first:
            return 1
        wanted = (plan.rate or MOVES_PER_S_MAX) * plan.seconds
        return min(10, max(1, round(wanted / (plan.matches * turns))))

    async def _opened(self, store: RedisStore) -> Board | None:
        """A match that is ready to be timed; None if it is not for this plan."""
        plan, port = self._job.plan, next(self._ports)
        client = await HttpClient.connect(self._job.host, port)
        tokens = [await tables.guest(client) for _ in range(2)]
        match = await tables.opened(client, plan.title, tokens)
        client.close()
        turns = await script(store, match, random.Random(self._rng.random()), plan.moves_max)
        if not plan.takes(len(turns)):
            return None
        board = Board(match, tokens, turns[: plan.until], self._lines.get(port))
        await board.connect(self._job, port)
        for _ in range(plan.before):
            await board.play()
        return board

    async def _timed(self, board: Board, due: float) -> None:
        await board.play()
        self._latencies.append((time.perf_counter() - due) * 1000)

    async def _closed_loop(self) -> None:
        end = time.perf_counter() + self._job.plan.seconds
        at_once = self._job.plan.matches

        async def slot(boards: list[Board]) -> None:
            for board in boards:
                while not board.is_played and (now := time.perf_counter()) < end:
                    await self._timed(board, now)

        await asyncio.gather(*[slot(self._boards[number::at_once]) for number in range(at_once)])

    async def _open_loop(self) -> None:
        """Moves come due as a Poisson process, each in a match with none on its way."""
        free = [board for board in self._boards if not board.is_played]
        is_one_free = asyncio.Event()
        playing: list[Awaitable[None]] = []

        async def one(board: Board, due: float) -> None:
            await self._timed(board, due)
            if not board.is_played:
                free.append(board)
                is_one_free.set()

        due = time.perf_counter()
        end = due + self._job.plan.seconds
        while (due := due + self._rng.expovariate(self._job.plan.rate)) < end:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            while not free:
                self._late += 1
                is_one_free.clear()
                await is_one_free.wait()
            chosen = self._rng.randrange(len(free))
            free[chosen], free[-1] = free[-1], free[chosen]
            playing.append(asyncio.ensure_future(one(free.pop(), due)))
        await asyncio.gather(*playing)


async def main(job: Job) -> None:
    asyncio.get_running_loop().set_exception_handler(_give_up)
    generator = Generator(job)
    await generator.open()
    print("ready", flush=True)
    sys.stdin.readline()
    print(msgspec.json.encode(await generator.play()).decode(), flush=True)


def _give_up(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """A broken connection makes the figures worthless."""
    print(f"generator: {context.get('exception') or context.get('message')}", file=sys.stderr, flush=True)
    os._exit(1)


if __name__ == "__main__":
    asked = msgspec.json.decode(sys.argv[1], type=Job)
    stay_on(asked.core)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    uvloop.run(main(asked))
