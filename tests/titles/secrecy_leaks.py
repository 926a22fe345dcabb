"""Ways to give something away: each takes one wall down, and the suite has to notice.

Leaks of a title are a title around it; leaks of the core, and of the worker, are replaced functions.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from unittest.mock import patch
from zlib import crc32

import msgspec

from services.core import shown
from services.core.errors import MoveIllegal
from services.core.title import AnyTitle
from services.rules import live, news, published, reads
from tests.titles.secrecy_cases import Case, Viewer

Secret = Callable[[Any], Any]


class Around:
    """A title like another, but for what a leak changes."""

    def __init__(self, title: AnyTitle, secret: Secret = repr) -> None:
        self._title = title
        self._secret = secret

    def __getattr__(self, name: str) -> Any:
        return getattr(self._title, name)


class ShowsInView(Around):
    def view(self, state: Any, seat: Viewer) -> Any:
        return {"view": self._title.view(state, seat), "secret": repr(self._secret(state))}

    def render(self, view: Any) -> str:
        return self._title.render(view["view"])


class TellsInErrors(Around):
    def apply(self, state: Any, seat: int, move: Any, chance: Any) -> Any:
        try:
            return self._title.apply(state, seat, move, chance)
        except MoveIllegal as error:
            raise MoveIllegal(error.rule, f"{error.detail}, while {self._secret(state)}") from error


class ListsLegalMovesBySecret(Around):
    def legal_moves(self, state: Any, seat: int) -> Iterable[Any]:
        moves = list(self._title.legal_moves(state, seat))
        first = crc32(repr(self._secret(state)).encode()) % (len(moves) or 1)
        return moves[first:] + moves[:first]


class ShowsAnotherHand(Around):
    def view(self, state: Any, seat: Viewer) -> Any:
        return self._title.view(state, another(seat))


class ListsLegalMovesOfOthers(Around):
    def legal_moves(self, state: Any, seat: int) -> Iterable[Any]:
        acting = self._title.to_act(state)
        return self._title.legal_moves(state, min(acting)) if acting else []


# What each hidden thing can leak through, and what gives away a hand whatever is in it.
OF_SECRETS = (ShowsInView, TellsInErrors, ListsLegalMovesBySecret)
OF_HANDS = (ShowsAnotherHand, ListsLegalMovesOfOthers)


def another(viewer: Viewer) -> int:
    """A seat other than the viewer's."""
    return 0 if viewer != 0 else 1


class Patch(NamedTuple):
    """A function put in the place of one of ours. `of_hands`: it shows what another seat may see."""

    name: str
    module: Any
    attribute: str
    leaky: Callable[..., Any]
    of_hands: bool = False

    def shows_in(self, case: Case) -> bool:
        """Whether streams can differ in it: whoever counts along knows how much is in every bag."""
        return not (self.of_hands and case.title.slug == "a_way_back_home")

    def applied(self) -> AbstractContextManager[Any]:
        return patch.object(self.module, self.attribute, self.leaky)


_show_event, _show_match, _receipt = shown.show_event, shown.show_match, shown.receipt
_push_for = live.push_for


def _as_after_the_end(match: Any, event: Any, viewer: Viewer, over: bool) -> Any:
    return _show_event(match, event, viewer, True)


def _with_request_id(match: Any, event: Any, viewer: Viewer, over: bool) -> Any:
    return msgspec.structs.replace(_show_event(match, event, viewer, over), request_id=event.request_id)


def _with_salt(match: Any, event: Any, viewer: Viewer, over: bool) -> Any:
    return msgspec.structs.replace(_show_event(match, event, viewer, over), salt=event.salt)


def _with_digest(match: Any, event: Any, viewer: Viewer, over: bool) -> Any:
    return msgspec.structs.replace(_show_event(match, event, viewer, over), digest=event.digest)


def _with_nonces(match: Any, seat: Viewer, like: Any = None) -> Any:
    seats = tuple(shown.ShownSeat(sitting.player + sitting.nonce) for sitting in match.started.seats)
    return msgspec.structs.replace(_show_match(match, seat), seats=seats)


def _through_other_eyes(match: Any, seat: Viewer, like: Any = None) -> Any:
    return msgspec.structs.replace(_show_match(match, another(seat)), seat=seat)


IN_CORE = (
    Patch("events are told as after the end", shown, "show_event", _as_after_the_end),
    Patch("events carry everybody's request id", shown, "show_event", _with_request_id),
    Patch("events carry the salt", shown, "show_event", _with_salt),
    Patch("events carry the digest", shown, "show_event", _with_digest),
    Patch("a match names the nonces", shown, "show_match", _with_nonces),
)
EYES_IN_CORE = Patch("a match is shown through other eyes", shown, "show_match", _through_other_eyes)


def _any_event(self: Any, seat: Viewer) -> bytes:
    return msgspec.json.encode(_as_after_the_end(self.match, self.event, seat, True))


def _another_push(told: Any, seat: Viewer) -> bytes:
    return _push_for(told, another(seat))


IN_WORKER = (
    Patch("views are those of another seat", news, "show_match", _through_other_eyes, of_hands=True),
    Patch("lists of events hold the luck", reads, "show_event", _as_after_the_end),
    Patch("read models get the luck again", published, "show_event", _as_after_the_end),
    Patch("read models get the luck", news.News, "event_for", _any_event),
    Patch("a push goes to the wrong audience", live, "push_for", _another_push, of_hands=True),
)
