"""Who is told what happens: gateways name the audiences they follow, and get what those may see.

At most once, and only from the worker that stored the event. A push that is lost shows as a gap in the
versions, or as a head that lies ahead; its reader then asks for the view.
"""

from typing import Protocol

import msgspec
from msgspec import Raw, Struct
from waystation.rules.v1 import rules_pb2 as pb

from services.core.ids import MatchId
from services.core.match import Match
from services.rules.news import News

_encode = msgspec.json.Encoder().encode


class Listener(Protocol):
    """A stream to a gateway."""

    def push(self, push: bytes) -> None:
        """Takes a message with one push, written. Never waits."""


class Happened(Struct):
    """`event`: a ShownEvent. `view`: the MatchView after it."""

    match: str
    version: int
    event: Raw
    view: Raw


class Live:
    """Listeners by match and seat; None is the spectators."""

    def __init__(self) -> None:
        self._listeners: dict[MatchId, dict[int | None, set[Listener]]] = {}

    def __len__(self) -> int:
        """How many matches are followed."""
        return len(self._listeners)

    def follow(self, match: MatchId, seat: int | None, listener: Listener) -> None:
        self._listeners.setdefault(match, {}).setdefault(seat, set()).add(listener)

    def unfollow(self, match: MatchId, seat: int | None, listener: Listener) -> None:
        """Harmless when nobody followed."""
        by_seat = self._listeners.get(match, {})
        listeners = by_seat.get(seat, set())
        listeners.discard(listener)
        if not listeners:
            by_seat.pop(seat, None)
        if not by_seat:
            self._listeners.pop(match, None)

    def push(self, news: News) -> None:
        """Tells every audience that is followed; nothing is shown or written for the others."""
        match = news.match
        for seat, listeners in self._listeners.get(match.id, {}).items():
            if seat is None or 0 <= seat < len(match.started.seats):
                push = _written(match, seat, push_for(news, seat))
                for listener in listeners:
                    listener.push(push)


def push_for(news: News, seat: int | None) -> bytes:
    """What happened, as JSON for `seat`."""
    event, view = Raw(news.event_for(seat)), Raw(news.view_for(seat))
    return _encode(Happened(news.match.id, news.match.version, event, view))


def _written(match: Match, seat: int | None, happened: bytes) -> bytes:
    """A message with this push alone."""
    message = pb.ExchangeResponse()
    message.pushes.add(match=match.id, seat=seat, version=match.version, happened=happened)
    return message.SerializeToString()
