"""What leaves a rules worker: a match and its events as one audience may see them, as JSON-ready structs.

An allow-list: whatever is not named here stays inside. Luck, digests, salts and the seed are
shown once the match is over, to everybody alike.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from services.core.clock import Clock
from services.core.events import Event, text_of
from services.core.match import Match, Offer
from services.core.match_events import NAMES, MatchStarted, MoveMade
from services.core.title import Outcome

# What nobody looks into stays as it is written in the store.
_members: Callable[[Raw], dict[str, Any]] = msgspec.json.Decoder(dict[str, Raw]).decode


class ShownSeat(Struct, frozen=True):
    """A seat and the player who sits there."""

    player: str


class ShownOffer(Struct, frozen=True):
    """An open offer or request: quote `version` to answer it."""

    version: int
    by: int


class ShownClock(Struct, frozen=True):
    """`remaining_ms`: by seat, as of the match's `at`. `deadline_at`: UTC ms of the next flag."""

    rule: Clock
    remaining_ms: tuple[int, ...]
    deadline_at: int | None


class MatchView(Struct, frozen=True, kw_only=True):
    """A match at one version for one audience. `seat`: whose eyes; null is a spectator. `at`: UTC ms."""

    match: str
    title: str
    rules_version: int
    version: int
    at: int
    status: Literal["running", "over"]
    seat: int | None
    seats: tuple[ShownSeat, ...]
    to_act: tuple[int, ...]
    options: Raw
    commitment: str
    clock: ShownClock | None
    draw_offer: ShownOffer | None
    takeback_request: ShownOffer | None
    outcome: Outcome | None
    view: Any


class ShownEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event for one audience. `notation`: a move's short text. `request_id`: only for who sent it.

    `chance`, `digest` and `salt`: once the match is over. A hidden move has neither `move` nor `notation`.
    """

    type: str
    version: int
    at: int
    by: int | str
    data: dict[str, Any] = {}
    notation: str = ""
    request_id: str = ""
    digest: str = ""
    salt: str = ""


def show_match(match: Match, seat: int | None, like: MatchView | None = None) -> MatchView:
    """`match` through the eyes of `seat`; None is a spectator.

    `like`: the same position as somebody else is shown it, to take over what all are shown.
    """
    started, view = match.started, match.ruleset.title.view(match.state, seat)
    if like is not None:
        return replace(like, seat=seat, view=view)
    flag = match.flag
    return MatchView(
        match=match.id,
        title=started.title,
        rules_version=started.rules_version,
        version=match.version,
        at=match.at,
        status="over" if match.outcome else "running",
        seat=seat,
        seats=tuple(ShownSeat(sitting.player) for sitting in started.seats),
        to_act=tuple(sorted(match.to_act)),
        options=started.options,
        commitment=started.commitment,
        clock=ShownClock(started.clock, match.remaining, flag[1] if flag else None)
        if started.clock
        else None,
        draw_offer=_offer(match.draw_offer),
        takeback_request=_offer(match.takeback),
        outcome=match.outcome,
        view=view,
    )


class Telling:
    """`event` of `match`, read once for all who are told of it. `over`: the match has ended by now."""

    def __init__(self, match: Match, event: Event, over: bool) -> None:
        self._title = match.ruleset.title
        self._event = event
        self._over = over
        self._data = _members(event.data)
        self._move: Any = None
        self._notation = ""
        self.plain: ShownEvent | None = None  # what all are told from whom nothing is hidden
        if not over:
            self._data.pop("chance", None)
        if event.type == NAMES[MatchStarted] and not over:
            # Nonces key the luck together with the seed; until the end only their owners need them.
            self._data["seats"] = msgspec.json.decode(self._data["seats"], type=tuple[ShownSeat, ...])
        elif event.type == NAMES[MoveMade]:
            self._move = match.ruleset.read_move(self._data["move"])
            self._notation = self._title.notation(self._move)

    def to(self, viewer: int | None) -> ShownEvent:
        """What the seat `viewer` is told; None is a spectator. `plain` itself, if that is what it is."""
        data, notation = self._data_for(viewer)
        if viewer is not None and viewer == self._event.by:
            return self._told(data, notation, self._event.request_id)
        if data is not self._data:
            return self._told(data, notation, "")
        self.plain = self.plain or self._told(data, notation, "")
        return self.plain

    def _told(self, data: dict[str, Any], notation: str, request_id: str) -> ShownEvent:
        event, over = self._event, self._over
        return ShownEvent(
            type=event.type,
            version=event.version,
            at=event.at,
            by=event.by,
            data=data,
            notation=notation,
            request_id=request_id,
            digest=event.digest if over else "",
            salt=event.salt if over else "",
        )

    def _data_for(self, viewer: int | None) -> tuple[dict[str, Any], str]:
        """The event's data and, of a move, its notation, as `viewer` may know them."""
        by, move = self._event.by, self._move
        if move is None or self._over or not isinstance(by, int):
            return self._data, self._notation
        shown = self._title.redact(move, by, viewer)
        if shown is move:
            return self._data, self._notation
        data = {name: value for name, value in self._data.items() if name != "move"}
        if shown is None:
            return data, ""
        return data | {"move": msgspec.to_builtins(shown)}, self._title.notation(shown)


def show_event(match: Match, event: Event, viewer: int | None, over: bool) -> ShownEvent:
    """`event` of `match` for one `viewer`; see `Telling`."""
    return Telling(match, event, over).to(viewer)


class Receipt(Struct, frozen=True, kw_only=True):
    """The answer to an accepted command. `head`: hash of the stream after it, Base64. `view`: a MatchView."""

    match: str
    version: int
    head: str
    view: Raw


def receipt(match: Match, view: bytes) -> Receipt:
    return Receipt(match=match.id, version=match.version, head=text_of(match.head), view=Raw(view))


def _offer(offer: Offer | None) -> ShownOffer | None:
    return ShownOffer(offer.version, offer.by) if offer else None
