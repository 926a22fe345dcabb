"""Pushes over NATS core, at most once: each audience of a match gets its own view, and no more than that.

The subject is `live.<match>.<audience>`; an audience is `seat-0`, `seat-1` ... or `spectator`. A push that
is lost shows as a gap in the versions, which its reader heals by asking for the view.
"""

import msgspec
import structlog
from msgspec import Raw, Struct

from services.core.ids import MatchId
from services.kit.bus import BUS_ERRORS, Bus
from services.rules.news import News

log = structlog.get_logger()

_encode = msgspec.json.Encoder().encode


class Push(Struct):
    """`event`: a ShownEvent. `view`: the MatchView after it."""

    match: str
    version: int
    event: Raw
    view: Raw


class Live:
    """What happens while NATS is away is not pushed later."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def push(self, news: News) -> None:
        """Tells every audience. Nothing is encoded while NATS is away."""
        if not self._bus.is_connected:
            return
        nats = await self._bus.connected()
        try:
            for seat in (*range(len(news.match.started.seats)), None):
                await nats.publish(subject(news.match.id, seat), push_for(news, seat))
        except BUS_ERRORS as error:
            log.debug("push_lost", match=news.match.id, detail=str(error))


def subject(match: MatchId, seat: int | None) -> str:
    """Where the audience `seat` of `match` listens; None is the spectators."""
    return f"live.{match}.spectator" if seat is None else f"live.{match}.seat-{seat}"


def push_for(news: News, seat: int | None) -> bytes:
    """A Push as JSON."""
    event, view = Raw(news.event_for(seat)), Raw(news.view_for(seat))
    return _encode(Push(news.match.id, news.match.version, event, view))
