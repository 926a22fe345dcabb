"""The contract of a title: what a game must answer so that everything else can serve it.

A title is pure and immutable: it keeps nothing between calls, changes no argument, and takes
luck only from the `Chance` it is handed. `services/titles/<slug>/__init__.py` exports
`VERSIONS: dict[int, Title]`, one entry per rules version it can still play.
"""

from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from services.core.chance import Chance

OptionsT = TypeVar("OptionsT")
StateT = TypeVar("StateT")
MoveT = TypeVar("MoveT")
ViewT = TypeVar("ViewT")


class Outcome(Struct, frozen=True, omit_defaults=True):
    """How a match ended. Storage format.

    `winners`: one seat won; several drew with each other; none after an abort.
    `reason`: snake_case, the title's own word, or the match's `resignation`, `agreement`, `time` or `abort`.
    `scores`: one per seat where the title counts points.
    """

    winners: tuple[int, ...]
    reason: str
    scores: tuple[int, ...] | None = None


class Title(Protocol, Generic[OptionsT, StateT, MoveT, ViewT]):
    """A game. Seats are counted from 0; what may not be known to a seat stays out of its view."""

    slug: str  # folder, URL and container name: "make_way"
    name: str  # as people write it: "Make Way!"
    rules_version: int  # raised when behaviour changes; running matches keep theirs
    seats: range  # allowed numbers of players
    takebacks: bool  # whether players may agree to take a move back
    rules: Mapping[str, str]  # rule id -> one sentence; every MoveIllegal names one of these

    Options: type[OptionsT]  # msgspec struct with a default for every field, forbids unknown fields
    Move: Any  # msgspec struct, or union of structs tagged by "type"; forbids unknown fields
    View: type[ViewT]  # msgspec struct

    def check(self, options: OptionsT, seats: int) -> None:
        """Raises OptionInvalid when these options do not go together or with this number of seats."""

    def setup(self, options: OptionsT, seats: int, chance: Chance) -> StateT:
        """The first position. `options` have passed `check`."""

    def to_act(self, state: StateT) -> frozenset[int]:
        """The seats that may move now; empty exactly when the game is over."""

    def legal_moves(self, state: StateT, seat: int) -> Iterable[MoveT]:
        """All that `apply` would accept from this seat, each once, in a fixed order; none if not to act."""

    def apply(self, state: StateT, seat: int, move: MoveT, chance: Chance) -> StateT:
        """The position after `move`, forced passes included. Raises MoveIllegal; `seat` is in `to_act`."""

    def outcome(self, state: StateT) -> Outcome | None:
        """None while the game goes on."""

    def view(self, state: StateT, seat: int | None) -> ViewT:
        """What `seat` may know, built from an allow-list; None is a spectator, who knows least."""

    def redact(self, move: MoveT, by: int, viewer: int | None) -> MoveT | None:
        """`move` of seat `by` as `viewer` may know it while the match runs; None hides it whole."""

    def canonical(self, state: StateT) -> bytes:
        """The documented encoding that digests are taken of: equal exactly for equal positions."""

    def notation(self, move: MoveT) -> str:
        """A short text that `parse` reads back to the same move."""

    def parse(self, text: str) -> MoveT:
        """Raises MoveUnreadable for any text that is no notation."""

    def render(self, view: ViewT) -> str:
        """A view as a few lines of text, for terminals, logs and tests; no more than the view holds."""


AnyTitle = Title[Any, Any, Any, Any]


def component_data(slug: str, name: str) -> bytes:
    """The bytes of `seeds/<slug>/<name>`, read once at import by the titles that keep data there."""
    return (resources.files("seeds") / slug / name).read_bytes()
