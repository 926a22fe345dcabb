"""Pushes over NATS core, at most once: each audience of a match gets its own view, and no more than that.

The subject is `live.<match>.<audience>`; an audience is `seat-0`, `seat-1` ... or `spectator`. A push that
is lost shows as a gap in the versions, which its reader heals by asking for the view.
"""

import asyncio
import contextlib

import msgspec
import nats.errors
import structlog
from msgspec import Raw, Struct
from nats.aio.client import Client

from services.core.ids import MatchId
from services.rules.news import News

RECONNECT_S = 1
CLOSE_S_MAX = 1.0

log = structlog.get_logger()

_encode = msgspec.json.Encoder().encode


class Push(Struct):
    """`event`: a ShownEvent. `view`: the MatchView after it."""

    match: str
    version: int
    event: Raw
    view: Raw


class Live:
    """NATS may be away at the start, and come and go: what happens meanwhile is not pushed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._nats = Client()
        self._connecting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connects in the background, however long it takes."""
        self._connecting = asyncio.create_task(self._connect())

    async def stop(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        if self._nats.is_connected:
            with contextlib.suppress(nats.errors.Error, OSError, TimeoutError):
                async with asyncio.timeout(CLOSE_S_MAX):
                    await self._nats.close()

    async def push(self, news: News) -> None:
        """Tells every audience. Nothing happens, and nothing is encoded, while NATS is away."""
        if not self._nats.is_connected:
            return
        try:
            for seat in (*range(len(news.match.started.seats)), None):
                await self._nats.publish(subject(news.match.id, seat), push_for(news, seat))
        except (nats.errors.Error, OSError) as error:
            log.debug("push_lost", match=news.match.id, detail=str(error))

    async def _connect(self) -> None:
        await self._nats.connect(
            self._url,
            name="rules",
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_S,
            error_cb=_complained,
            disconnected_cb=_lost,
            reconnected_cb=_found,
        )
        await _found()


def subject(match: MatchId, seat: int | None) -> str:
    """Where the audience `seat` of `match` listens; None is the spectators."""
    return f"live.{match}.spectator" if seat is None else f"live.{match}.seat-{seat}"


def push_for(news: News, seat: int | None) -> bytes:
    """A Push as JSON."""
    event, view = Raw(news.event_for(seat)), Raw(news.view_for(seat))
    return _encode(Push(news.match.id, news.match.version, event, view))


async def _complained(error: Exception) -> None:
    log.debug("nats_complained", detail=str(error))


async def _lost() -> None:
    log.warning("nats_lost")


async def _found() -> None:
    log.info("nats_found")
